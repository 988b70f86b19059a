/** The debug type `dragoman`: joins an agent's live session, or starts a program through the server. */
import { dirname, isAbsolute } from "node:path";
import * as vscode from "vscode";

import type { LiveSession } from "../daemon/status";
import { offerInstallation } from "../server/installCommand";
import { folderPaths } from "../server/programFinder";
import type { Server } from "../server/server";
import { trustFolder } from "../server/folderTrust";

const t = vscode.l10n.t;
export const TYPE = "dragoman";
/** Keys of an attach: each names a program, not a session. */
export const PROGRAMS = [
  "processId",
  "pid",
  "port",
  "connect",
  "listen",
  "connectionPort",
  "connectionIP",
  "VSCodeAsClient",
  "program",
  "module",
  "code",
  "dragomanType",
  "configuration",
  "configurationName",
];

export function registerDebugType(server: Server): vscode.Disposable {
  const provider: vscode.DebugConfigurationProvider = {
    provideDebugConfigurations: () => [launchConfiguration()],
    resolveDebugConfiguration: (_, configuration) => resolveConfiguration(server, configuration),
    // The daemon sends us the breakpoints of others: `breakpoints` shows them.
    resolveDebugConfigurationWithSubstitutedVariables: (_, configuration) => ({
      mirrorsBreakpoints: true,
      ...configuration,
    }),
  };
  const joining: vscode.DebugConfigurationProvider = {
    provideDebugConfigurations: () => [launchConfiguration(), ...joinableSessions(server).map(attachConfiguration)],
  };
  const joined = new Set<string>();
  return vscode.Disposable.from(
    vscode.debug.onDidStartDebugSession(({ configuration }) => joined.add(String(configuration.session))),
    vscode.debug.onDidTerminateDebugSession(({ configuration }) => joined.delete(String(configuration.session))),
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, {
      createDebugAdapterDescriptor: (session) => createAdapter(server, session),
    }),
    vscode.debug.registerDebugAdapterTrackerFactory(TYPE, {
      createDebugAdapterTracker: (session) => trustTracker(server, session),
    }),
    vscode.debug.registerDebugConfigurationProvider(TYPE, provider),
    vscode.debug.registerDebugConfigurationProvider(
      TYPE,
      joining,
      vscode.DebugConfigurationProviderTriggerKind.Dynamic,
    ),
    vscode.commands.registerCommand("dragoman.joinSession", (id?: unknown) =>
      join(server, joined, typeof id === "string" ? id : undefined),
    ),
  );
}

/** Sessions that can be joined. A lent session is already in the debugger of its editor. */
export function joinableSessions({ state: known }: Server): LiveSession[] {
  return known.state === "running"
    ? known.status.sessions.filter(({ kind, ends }) => kind === "debug" && ends !== false)
    : [];
}

/** Every editor can run a program as its adapter; this one carries bytes between us and the daemon's own socket. */
async function createAdapter(
  server: Server,
  { configuration, workspaceFolder }: vscode.DebugSession,
): Promise<vscode.DebugAdapterDescriptor> {
  const dragoman = await server.programs.find();
  if (!dragoman)
    throw new Error(t("dragoman was not found in this workspace's environment, on PATH, or with pipx or uv."));
  const { path, args } = dragoman.program;
  const session =
    configuration.request === "attach" && configuration.session ? ["--attach", String(configuration.session)] : [];
  const looks = configuration.readOnly === true ? ["--read-only"] : [];
  const workspace = workspaceFolder?.uri.fsPath ?? folderPaths()[0] ?? folderOf(configuration);
  const folder = workspace ? ["--workspace", workspace] : [];
  return new vscode.DebugAdapterExecutable(
    path,
    [...args, "dap", "--stdio", ...session, ...looks, ...folder],
    options(dragoman.environment),
  );
}

interface Refusal {
  body?: { error?: { variables?: { code?: string; folder?: string } } };
}

/** A start that is refused for want of trust is made again once the person gave it. */
function trustTracker(
  server: Server,
  { workspaceFolder, configuration }: vscode.DebugSession,
): vscode.DebugAdapterTracker {
  const startAgain = async (folder: string) => {
    if (await trustFolder(server, folder)) await vscode.debug.startDebugging(workspaceFolder, configuration);
  };
  return {
    onDidSendMessage: ({ body }: Refusal) => {
      const { code, folder } = body?.error?.variables ?? {};
      if (code === "needs_trust" && folder && vscode.workspace.isTrusted) void startAgain(folder);
    },
  };
}

/** In a window without a folder: that of the program. Ours would be wherever the editor was started, often the root. */
function folderOf({ cwd, program }: vscode.DebugConfiguration): string | undefined {
  if (typeof cwd === "string" && isAbsolute(cwd)) return cwd;
  return typeof program === "string" && isAbsolute(program) ? dirname(program) : undefined;
}

function options(environment: NodeJS.ProcessEnv): vscode.DebugAdapterExecutableOptions {
  return {
    env: Object.fromEntries(
      Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  };
}

/**
 * F5 without a launch.json runs the file that is open; an attach without a session asks for one. Where nothing could
 * run it, that is offered.
 */
async function resolveConfiguration(
  server: Server,
  configuration: vscode.DebugConfiguration,
): Promise<vscode.DebugConfiguration | undefined> {
  if (!(await server.programs.find())) return void offerInstallation(server);
  if (!configuration.type && !configuration.request)
    return vscode.window.activeTextEditor ? launchConfiguration() : undefined;
  if (configuration.request !== "attach" || configuration.session || PROGRAMS.some((key) => key in configuration))
    return configuration;
  const liveSession = await choose(server);
  return liveSession && { ...configuration, session: liveSession.id };
}

function launchConfiguration(): vscode.DebugConfiguration {
  return {
    name: t("Run with an agent"),
    type: TYPE,
    request: "launch",
    program: "${file}",
    console: "integratedTerminal",
  };
}

function attachConfiguration({ id, title }: LiveSession): vscode.DebugConfiguration {
  return { name: t("Join {0}", title), type: TYPE, request: "attach", session: id };
}

/**
 * Once is enough: an invitation still stands there when the person has joined in another way, and nothing can withdraw
 * it.
 */
async function join(server: Server, joined: ReadonlySet<string>, id: string | undefined): Promise<void> {
  const liveSession = id === undefined ? await choose(server) : await findSession(server, id);
  if (!liveSession && id !== undefined) void vscode.window.showInformationMessage(t("That session has ended."));
  if (!liveSession) return;
  if (!joined.has(liveSession.id))
    await vscode.debug.startDebugging(vscode.workspace.workspaceFolders?.[0], attachConfiguration(liveSession));
  else await showJoined();
}

/** An invitation may be accepted before the list of sessions was read again. */
async function findSession(server: Server, id: string): Promise<LiveSession | undefined> {
  const find = () => joinableSessions(server).find((one) => one.id === id);
  if (!find()) await server.watcher.readStatus();
  return find();
}

async function showJoined(): Promise<void> {
  void vscode.window.showInformationMessage(t("You have already joined this session."));
  await vscode.commands.executeCommand("workbench.debug.action.focusCallStackView");
}

async function choose(server: Server): Promise<LiveSession | undefined> {
  const all = joinableSessions(server);
  if (all.length <= 1) {
    if (!all.length) void vscode.window.showInformationMessage(t("No agent is debugging right now."));
    return all[0];
  }
  const items = all.map((liveSession) => ({
    label: liveSession.title,
    description: liveSession.id,
    life: liveSession,
  }));
  return (await vscode.window.showQuickPick(items, { title: t("Join a live session…") }))?.life;
}
