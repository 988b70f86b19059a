/** What an agent asks of a session of the person's: done by the editor where it can, else passed to the adapter. */
import * as vscode from "vscode";

import type { Json } from "../bridge/link";
import type { Shared } from "./sharing";

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

export async function passedOn(shared: Shared, command: string, given: Json): Promise<Json> {
  const { session, paths } = shared;
  try {
    if (await byEditor(shared, command, given)) return { body: {} };
    const answer = (await session.customRequest(command, paths.editors(given))) as Json | undefined;
    if (SETS.has(command)) tellOfValue(given);
    return { body: paths.plain(answer ?? {}) };
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether the editor's own command sent the program on: only of the session in front, since that is what it acts on. */
async function byEditor({ session, tracked }: Shared, command: string, { threadId }: Json): Promise<boolean> {
  const known = COMMANDS[command];
  if (!known || vscode.debug.activeDebugSession?.id !== session.id) return false;
  const before = tracked.sentSoFar(command);
  await vscode.commands.executeCommand(known, "", { sessionId: session.id, threadId: `thread:${session.id}:${String(threadId)}` });
  return tracked.sentSoFar(command) > before;
}

/** No extension can make the editor read another's variables again before it stops anew: so it is said. */
function tellOfValue({ name, expression, value }: Json): void {
  const [what, worth] = [String(name ?? expression), String(value)].map((text) => text.replace(/\s+/g, " ").slice(0, SHOWN));
  vscode.debug.activeDebugConsole.appendLine(t("An agent set {0} = {1}. Variables shows it from the next stop on.", what!, worth!));
}
