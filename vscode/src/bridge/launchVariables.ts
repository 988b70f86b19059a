/** Variables of launch.json that only an editor can resolve: inputs, and commands of extensions. */
import { createHash } from "node:crypto";
import * as vscode from "vscode";

import type { Consent } from "./consent";
import { RpcError, type Json } from "./rpcConnection";

const t = vscode.l10n.t;
const READ_WITHIN_MS = 10_000;
const POLL_INTERVAL_MS = 100;

interface Input {
  id: string;
  type: string;
  description?: string;
  default?: string;
  password?: boolean;
  options?: (string | { label: string; value: string })[];
  command?: string;
  args?: unknown;
}

interface Debugger {
  type: string;
  /** The prefix with which an extension lets configurations run its commands. */
  variables?: Record<string, string>;
}

export async function resolveVariable(consent: Consent, { variable: named }: Json, signal: AbortSignal): Promise<Json> {
  consent.requireTrust();
  const [kind, ...rest] = String(named).split(":");
  const id = rest.join(":");
  const input = kind === "input" ? await findInput(id) : undefined;
  if (kind === "input" && !input) throw new RpcError("unknown_input", `no input ${id} is in a launch.json here`);
  const value = await (input && input.type !== "command"
    ? askForInput(input, signal)
    : runCommand(consent, input?.command ?? commandOf(id), input?.args, signal));
  if (typeof value !== "string") throw new RpcError("not_allowed", `${String(named)}: nothing was chosen`);
  return { value };
}

/** The editor may not have read a file that was written a moment ago. */
async function findInput(id: string): Promise<Input | undefined> {
  const find = () => launch<Input>("inputs").find((it) => it.id === id);
  const deadline = Date.now() + READ_WITHIN_MS;
  while (!find() && Date.now() < deadline) await new Promise((settle) => setTimeout(settle, POLL_INTERVAL_MS));
  return find();
}

function launch<T>(section: string): T[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.flatMap(({ uri }) => vscode.workspace.getConfiguration("launch", uri).get<T[]>(section, []));
}

/** A question is closed when nobody waits for its answer any more. */
async function askForInput(input: Input, signal: AbortSignal): Promise<string | undefined> {
  const { id, type, description = "", default: given = "", password = false, options = [] } = input;
  const withdrawn = new vscode.CancellationTokenSource();
  signal.addEventListener("abort", () => withdrawn.cancel());
  const shared = { title: t("For a launch configuration that an agent starts: {0}", id), ignoreFocusOut: true };
  if (type !== "pickString")
    return vscode.window.showInputBox({ ...shared, prompt: description, value: given, password }, withdrawn.token);
  const items = options.map((it) => (typeof it === "string" ? { label: it, value: it } : it));
  return (await vscode.window.showQuickPick(items, { ...shared, placeHolder: description }, withdrawn.token))?.value;
}

/** `PickProcess` is several debuggers' word: it is that of a configuration which says it. */
function commandOf(id: string): string {
  const types = launch<Json>("configurations")
    .filter((it) => JSON.stringify(it).includes(`\${command:${id}}`))
    .map(({ type }) => type);
  const known = vscode.extensions.all.flatMap(
    ({ packageJSON }) => (packageJSON as { contributes?: { debuggers?: Debugger[] } }).contributes?.debuggers ?? [],
  );
  const named = known.filter(({ variables }) => variables?.[id]);
  return (named.find(({ type }) => types.includes(type)) ?? named[0])?.variables?.[id] ?? id;
}

/**
 * Any command of any extension can stand in a file of the workspace, and what it is given says what it does: the person
 * sees both before it runs, and "always" is for both.
 */
async function runCommand(consent: Consent, command: string, args: unknown, signal: AbortSignal): Promise<unknown> {
  const given = args === undefined ? "" : JSON.stringify(args);
  const words = given
    ? t("A launch configuration that an agent starts runs the command {0} with {1}.", command, given)
    : t("A launch configuration that an agent starts runs the command {0}.", command);
  const exactly = given && createHash("sha256").update(given).digest("hex");
  await consent.require(`command:${command}`, words, signal, exactly);
  return vscode.commands.executeCommand(command, args);
}
