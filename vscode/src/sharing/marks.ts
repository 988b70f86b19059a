/** Agents' breakpoints in sessions of the person's: set by the editor itself, and taken back with the session. */
import * as vscode from "vscode";

import type { Json } from "../bridge/link";
import { Leftovers } from "../together/leftovers";
import { made, Signs } from "../together/signs";
import { meaning, Wanting, type Done, type Wanted } from "./wanting";

const t = vscode.l10n.t;
const BOUND_WITHIN_MS = 2000;
const LOOK_EVERY_MS = 50;

export class Marks implements vscode.Disposable {
  private readonly wanting = new Wanting<vscode.SourceBreakpoint>();
  private readonly signs = new Signs();
  private readonly subscriptions: vscode.Disposable[];
  private readonly leftovers: Leftovers;

  /** `tell` says to the daemon what the person did; true once it knows. */
  constructor(
    memory: vscode.Memento,
    private readonly tell: (done: Done) => Promise<boolean>,
  ) {
    this.leftovers = new Leftovers(memory, "dragoman.agentsBreakpoints");
    this.subscriptions = [
      this.signs,
      this.leftovers,
      vscode.debug.onDidChangeBreakpoints((event) => this.changed(event)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
    ];
  }

  dispose(): void {
    vscode.debug.removeBreakpoints(this.wanting.all());
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  async set(session: vscode.DebugSession, { source, breakpoints }: Json): Promise<Json> {
    const [path, wanted] = [String((source as Json).path), breakpoints as Wanted[]];
    const marks = this.want(session.id, path, wanted);
    const answers = await Promise.all(marks.map((mark, index) => bound(session, mark, wanted[index]!)));
    for (const [index, mark] of marks.entries()) if (mark) this.wanting.boundAt(mark, placeOf(answers[index]!));
    return { breakpoints: answers };
  }

  /** For a session that is about to start: its debugger is told them with all others. */
  prepare(start: string, lists: readonly Json[]): void {
    for (const { source, breakpoints } of lists) this.want(start, String((source as Json).path), breakpoints as Wanted[]);
  }

  /** It has started, and they are that session's; or came to nothing. */
  started(start: string, session?: vscode.DebugSession): void {
    if (session) this.wanting.renamed(start, session.id);
    else vscode.debug.removeBreakpoints(this.wanting.released(start));
    this.draw();
  }

  private want(session: string, path: string, wanted: Wanted[]): (vscode.SourceBreakpoint | undefined)[] {
    const { marks, added, removed } = this.wanting.set(session, path, wanted, (it) => theirs(path, it), (it) => made({ path, ...it }));
    vscode.debug.removeBreakpoints(removed);
    vscode.debug.addBreakpoints(added);
    this.draw();
    return marks;
  }

  /** Whether agents want it, and we added it. */
  has(mark: vscode.SourceBreakpoint): boolean {
    return this.wanting.all().includes(mark);
  }

  /** No agent has the session any more. */
  released(session: vscode.DebugSession): void {
    vscode.debug.removeBreakpoints(this.wanting.released(session.id));
    this.draw();
  }

  ended(session: vscode.DebugSession): void {
    vscode.debug.removeBreakpoints(this.wanting.ended(session.id));
    this.draw();
  }

  /** The daemon is there again, perhaps another one: what the person did meanwhile comes first. */
  async tellAgain(): Promise<void> {
    await Promise.all(this.wanting.unknown().map((done) => this.told(done)));
  }

  private changed({ removed, changed }: vscode.BreakpointsChangeEvent): void {
    const sources = (all: readonly vscode.Breakpoint[]) => all.filter((it): it is vscode.SourceBreakpoint => it instanceof vscode.SourceBreakpoint);
    const done = [...sources(removed).map((it) => this.wanting.takenAway(it)), ...sources(changed).map((it) => this.wanting.altered(it, now(it)))];
    for (const one of done) if (one) void this.told(one);
    this.draw();
  }

  private async told(done: Done): Promise<void> {
    if (await this.tell(done)) this.wanting.known(done);
  }

  /** They stand among the person's, and are seen not to be theirs. */
  private draw(): void {
    this.leftovers.note(this.wanting.all());
    const places = this.wanting.all().map(({ location: { uri, range } }) => ({ path: uri.fsPath, line: range.start.line + 1 }));
    this.signs.draw(places, () => t("breakpoint of an agent"));
  }
}

/** What the person has there already stays the person's. */
function theirs(path: string, { line }: Wanted): vscode.SourceBreakpoint | undefined {
  return vscode.debug.breakpoints.find(
    (it): it is vscode.SourceBreakpoint =>
      it instanceof vscode.SourceBreakpoint && it.enabled && it.location.uri.fsPath === path && it.location.range.start.line === line - 1,
  );
}

function placeOf({ line, column }: Json): { line: number; column: number | null } {
  return { line: Number(line), column: typeof column === "number" ? column : null };
}

export function now({ location, enabled, condition, hitCondition, logMessage }: vscode.SourceBreakpoint): Wanted & { enabled: boolean } {
  const { line, character } = location.range.start;
  const texts = { condition: condition ?? "", hitCondition: hitCondition ?? "", logMessage: logMessage ?? "" };
  return { line: line + 1, column: character ? character + 1 : null, ...texts, enabled };
}

/** What the adapter made of it, once the editor has told it. */
async function bound(session: vscode.DebugSession, mark: vscode.SourceBreakpoint | undefined, wanted: Wanted): Promise<Json> {
  const { line } = wanted;
  if (!mark) return { verified: false, line, message: t("The person took this breakpoint away.") };
  if (meaning({ ...now(mark), column: null }) !== meaning({ ...wanted, column: null }))
    return { verified: false, line, message: t("The person has a breakpoint there, with another condition or message: that one counts.") };
  const deadline = Date.now() + BOUND_WITHIN_MS;
  while (Date.now() < deadline) {
    const told = await session.getDebugProtocolBreakpoint(mark);
    if (told) return { line, ...(told as unknown as Json) };
    await new Promise((settle) => setTimeout(settle, LOOK_EVERY_MS));
  }
  return { verified: false, line };
}
