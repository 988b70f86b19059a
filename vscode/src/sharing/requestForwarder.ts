/** Runs an agent's request in a session of the person's: in the editor if possible, otherwise in the adapter. */
import * as vscode from "vscode";

import type { Json } from "../bridge/rpcConnection";
import type { SharedSession } from "./sessionSharing";

const t = vscode.l10n.t;
/** Through the editor, which then shows what happens; a request past it would leave it standing at the old line. */
const COMMANDS: Record<string, string> = {
  continue: "workbench.action.debug.continue",
  next: "workbench.action.debug.stepOver",
  stepIn: "workbench.action.debug.stepInto",
  stepOut: "workbench.action.debug.stepOut",
  pause: "workbench.action.debug.pause",
};
const SETS = new Set(["setVariable", "setExpression"]);
const SHOWN = 200;

export async function forwardRequest(shared: SharedSession, command: string, given: Json): Promise<Json> {
  const { session, paths } = shared;
  try {
    if (await runInEditor(shared, command, given)) return { body: {} };
    const answer = (await session.customRequest(command, paths.toEditor(given))) as Json | undefined;
    if (SETS.has(command)) reportValue(given);
    return { body: paths.toPlain(answer ?? {}) };
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Whether the editor's own command sent the program on: only of the session in front, since that is what it acts on.
 */
async function runInEditor({ session, tracked }: SharedSession, command: string, { threadId }: Json): Promise<boolean> {
  const known = COMMANDS[command];
  if (!known || vscode.debug.activeDebugSession?.id !== session.id) return false;
  const before = tracked.sentCount(command);
  await vscode.commands.executeCommand(known, "", {
    sessionId: session.id,
    threadId: `thread:${session.id}:${String(threadId)}`,
  });
  return tracked.sentCount(command) > before;
}

/**
 * An extension cannot make the editor read another session's variables again before its next stop, so a message says
 * so.
 */
function reportValue({ name, expression, value }: Json): void {
  const [what, worth] = [String(name ?? expression), String(value)].map((text) =>
    text.replace(/\s+/g, " ").slice(0, SHOWN),
  );
  vscode.debug.activeDebugConsole.appendLine(
    t("An agent set {0} = {1}. The Variables view shows it at the next stop.", what!, worth!),
  );
}
