/** Sessions that agents start with the debuggers of this editor: after the person has seen and allowed all of it. */
import * as vscode from "vscode";

import type { Consent } from "../bridge/consent";
import { RpcError, type Json } from "../bridge/rpcConnection";
import { notificationText, MAX_NOTIFICATION } from "../bridge/notificationText";
import { TYPE } from "../debug/debugType";
import {
  digest,
  questionText,
  shortQuestionText,
  questionDocument,
  breakpointTexts,
  type LaunchQuestion,
} from "./launchQuestion";
import type { SharedSession } from "./sessionSharing";

const t = vscode.l10n.t;
const KIND = "start";
/** In the configuration, as the editor's own keys are (`__sessionId`): by this a session is known to be ours. */
const MARK = "__dragoman";
const SCHEME = "dragoman-configuration";
/** For a program that neither stops nor reports threads: the session itself is lent. */
const SETTLES_MS = 2000;
/** A program that does not end when it is asked to is ended the second time, as with the button in the editor. */
const ASKED_AGAIN_MS = 3000;
const HELD_EVENTS = 300;
const HELD = new Set(["output", "exited"]);

/** Types for which extensions bring debuggers. Ours is not one of them: its sessions are the server's own. */
export function debugTypes(): string[] {
  const declared = vscode.extensions.all.flatMap(
    ({ packageJSON }) =>
      (packageJSON as { contributes?: { debuggers?: { type?: unknown }[] } }).contributes?.debuggers ?? [],
  );
  const types = declared
    .map(({ type }) => type)
    .filter((type): type is string => typeof type === "string" && type !== TYPE);
  return [...new Set(types)].slice(0, 300);
}

/**
 * One start that an agent asked for: its session, those which that begins in turn, and which of them is lent for it.
 */
export class AgentLaunch {
  root: vscode.DebugSession | undefined;
  /** No session of it is lent yet. */
  isPending = true;
  private readonly members: SharedSession[] = [];
  private readonly heldEvents: { shared: SharedSession; event: string; body: Json }[] = [];
  private settle!: (shared: SharedSession) => void;
  /** The first that has a program, or has ended. */
  readonly settled = new Promise<SharedSession>((settle) => (this.settle = settle));

  constructor(
    readonly id: string,
    readonly name: string,
    private readonly signal: AbortSignal,
  ) {}

  has({ id, parentSession, configuration }: vscode.DebugSession): boolean {
    if (this.root) return id === this.root.id || (parentSession !== undefined && this.has(parentSession));
    // Some rewrite the configuration.
    return configuration[MARK] === this.id || (!parentSession && configuration.name === this.name);
  }

  joined(shared: SharedSession): void {
    this.root ??= shared.session;
    this.members.push(shared);
    if (this.signal.aborted) void vscode.debug.stopDebugging(this.root);
  }

  handleEvent(shared: SharedSession, event: string, body: Json): void {
    if (HELD.has(event)) this.heldEvents.push({ shared, event, body });
    if (this.heldEvents.length > HELD_EVENTS) this.heldEvents.shift();
    if (shared.tracked.isLive) this.settle(shared);
  }

  ended({ session }: SharedSession): void {
    const first = this.members.find((it) => it.session.id === session.id);
    if (first && session.id === this.root?.id) this.settle(first);
  }

  /** The session that is lent if no program was seen. */
  settleForRoot(): void {
    const root = this.members.find(({ session }) => session.id === this.root?.id);
    if (root) this.settle(root);
  }

  /** The output from before it was lent. */
  heldEventsOf(shared: SharedSession): { event: string; body: Json }[] {
    return this.heldEvents.filter((it) => it.shared === shared);
  }

  others(shared: SharedSession): SharedSession[] {
    return this.members.filter((it) => it !== shared);
  }
}

export class AgentLaunches implements vscode.Disposable {
  private readonly launches = new Set<AgentLaunch>();
  private readonly documents = new Map<string, string>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly consent: Consent) {
    this.subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
        provideTextDocumentContent: ({ path }) => this.documents.get(path) ?? "",
      }),
      vscode.debug.onDidTerminateDebugSession(({ id }) => {
        for (const run of this.launches) if (run.root?.id === id) this.launches.delete(run);
      }),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  launchOf(session: vscode.DebugSession): AgentLaunch | undefined {
    return [...this.launches].find((run) => run.has(session));
  }

  /**
   * Resolves with what is to be lent, once the person allowed it and the editor has started it. `ready`: before that.
   */
  async start(
    { start, configuration, folder, noDebug, by, breakpoints }: Json,
    signal: AbortSignal,
    ready: () => void,
  ): Promise<{ run: AgentLaunch; shared: SharedSession }> {
    const wanted = configuration as vscode.DebugConfiguration;
    const texts = breakpointTexts(breakpoints as Json[]);
    await this.ask(
      { wanted, folder: String(folder), by: String(by || "") || t("An agent"), isRun: noDebug === true, texts },
      signal,
    );
    const run = new AgentLaunch(String(start), wanted.name, signal);
    signal.addEventListener("abort", () => run.root && run.isPending && void vscode.debug.stopDebugging(run.root));
    this.launches.add(run);
    try {
      ready();
      const at =
        vscode.workspace.getWorkspaceFolder(vscode.Uri.file(String(folder))) ?? vscode.workspace.workspaceFolders?.[0];
      const began = Promise.resolve(
        vscode.debug.startDebugging(at, { ...wanted, [MARK]: run.id }, { noDebug: noDebug === true }),
      );
      const shared = await Promise.race([run.settled, began.then((isBegun) => waitForSession(run, isBegun))]);
      if (signal.aborted) throw new RpcError("withdrawn", "nobody waits for it any more");
      return { run, shared };
    } catch (error) {
      this.launches.delete(run);
      if (run.root) void vscode.debug.stopDebugging(run.root);
      throw error;
    }
  }

  private async ask(launchQuestion: LaunchQuestion, signal: AbortSignal): Promise<void> {
    const words = questionText(launchQuestion);
    const isLong = notificationText(words).length > MAX_NOTIFICATION;
    if (isLong && !this.consent.isAlways(KIND, digest(launchQuestion))) await this.show(launchQuestion);
    await this.consent.require(
      KIND,
      isLong ? shortQuestionText(launchQuestion) : words,
      signal,
      digest(launchQuestion),
    );
  }

  /** A text that a notification would cut off is shown in a document. */
  private async show(launchQuestion: LaunchQuestion): Promise<void> {
    this.consent.requireTrust();
    const path = `/${digest(launchQuestion).slice(0, 12)}/launch.json`;
    this.documents.clear();
    this.documents.set(path, questionDocument(launchQuestion));
    const document = await vscode.workspace.openTextDocument(vscode.Uri.from({ scheme: SCHEME, path }));
    await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true });
  }
}

async function waitForSession(run: AgentLaunch, isBegun: boolean): Promise<SharedSession> {
  if (!isBegun) throw new RpcError("not_started", "it could not be started there; the editor says why to the person");
  setTimeout(() => run.settleForRoot(), SETTLES_MS);
  if (!run.root) throw new RpcError("not_started", "its debugger began no session that could be followed");
  return run.settled;
}

export async function stopSession(session: vscode.DebugSession): Promise<void> {
  const over = new Promise<void>((settle) => {
    const listener = vscode.debug.onDidTerminateDebugSession(
      ({ id }) => id === session.id && (listener.dispose(), settle()),
    );
    setTimeout(() => (listener.dispose(), settle()), 2 * ASKED_AGAIN_MS);
  });
  const again = setTimeout(() => void vscode.debug.stopDebugging(session), ASKED_AGAIN_MS);
  await vscode.debug.stopDebugging(session);
  await over;
  clearTimeout(again);
}
