/** Others' breakpoints of the sessions that this window is at: shown among the person's, marked as not theirs.
 *
 * They are added by ourselves, because the editor knows only breakpoints of its own: those that an adapter tells of are
 * drawn and not listed. What it then sends back as one of its own, the daemon takes for the echo that it is.
 */
import * as vscode from "vscode";

import { plain } from "../bridge/plain";
import { TYPE } from "./debugging";
import { Leftovers, MIRRORED } from "./leftovers";
import { Mirror, type Altered, type Changes, type Told, type Wish } from "./mirror";
import { made, Signs } from "./signs";

const t = vscode.l10n.t;
const EVENT = "dragomanBreakpoints";
const PERSON = /^person-[^:]+:(.*)$/s;

type List = { breakpoints: Told[] };

export class Breakpoints implements vscode.Disposable {
  private readonly mirror = new Mirror<vscode.Breakpoint>();
  private readonly sessions = new Map<string, vscode.DebugSession>();
  private readonly signs = new Signs();
  private readonly subscriptions: vscode.Disposable[];
  private readonly leftovers: Leftovers;

  constructor(memory: vscode.Memento) {
    this.leftovers = new Leftovers(memory, MIRRORED);
    this.subscriptions = [
      this.signs,
      this.leftovers,
      vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
        if (session.type === TYPE && event === EVENT) this.told(session, body as List);
      }),
      vscode.debug.onDidTerminateDebugSession(({ id }) => this.ended(id)),
      vscode.debug.onDidChangeBreakpoints((event) => this.changed(event)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
    ];
  }

  dispose(): void {
    for (const id of [...this.sessions.keys()]) this.ended(id);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private told(session: vscode.DebugSession, { breakpoints }: List): void {
    this.sessions.set(session.id, session);
    this.show(this.mirror.told(session.id, breakpoints));
  }

  /** They were the others': with the session they leave the person's list. */
  private ended(session: string): void {
    if (this.sessions.delete(session)) this.show(this.mirror.ended(session));
  }

  private show({ added, removed }: Changes<vscode.Breakpoint>): void {
    vscode.debug.removeBreakpoints(removed);
    const marks = added.flatMap((told) => this.mark(told)); // known before the editor tells us of them
    vscode.debug.addBreakpoints(marks);
    this.draw();
  }

  /** Where the person has one already, the editor would show no second. */
  private mark(told: Told): vscode.Breakpoint[] {
    const theirs = vscode.debug.breakpoints.find((it) => isAt(it, told) && !this.leftovers.has(it));
    const mark = theirs ?? made({ ...told, hitCondition: told.hit_condition, logMessage: told.log_message });
    this.mirror.keep(told, mark, !theirs);
    return theirs ? [] : [mark];
  }

  private changed({ removed, changed }: vscode.BreakpointsChangeEvent): void {
    for (const mark of removed) this.wish("dragomanRemoveBreakpoint", this.mirror.takenAway(mark));
    for (const mark of changed) {
      if (mark instanceof vscode.SourceBreakpoint) this.wish("dragomanChangeBreakpoint", this.mirror.altered(mark, now(mark)));
    }
    this.draw();
  }

  /** The last writer wins, whoever's it is. It is told in the session, which is in the right folder, and may be read only. */
  private wish(command: string, wish: Wish | undefined): void {
    if (!wish) return;
    const { id, line, column, condition, hit_condition, log_message, enabled } = wish.told;
    const given = { id, line, column, condition, hitCondition: hit_condition, logMessage: log_message, enabled };
    void Promise.resolve(this.sessions.get(wish.session)?.customRequest(command, given)).then(
      (list: List | undefined) => this.show(this.mirror.answered(wish, list?.breakpoints)),
      () => this.show(this.mirror.answered(wish)),
    );
  }

  private draw(): void {
    const shown = this.mirror.all();
    this.leftovers.note(shown.filter(({ isOurs }) => isOurs).map(({ mark }) => mark));
    this.signs.draw(shown.map(({ told }) => told), ({ owner }) => signOf(owner));
  }
}

/** An agent's, or one of a person at another editor. */
export function signOf(owner: string): string {
  const [, program] = PERSON.exec(owner) ?? [];
  return program === undefined ? t("breakpoint of an agent") : t("breakpoint of a person in {0}", plain(program));
}

function isAt(it: vscode.Breakpoint, { path, line, column }: Told): boolean {
  if (!(it instanceof vscode.SourceBreakpoint) || it.location.uri.fsPath !== path) return false;
  const { start } = it.location.range;
  return start.line === line - 1 && start.character === (column ? column - 1 : 0);
}

function now({ location, enabled, condition, hitCondition, logMessage }: vscode.SourceBreakpoint): Altered {
  const { line, character } = location.range.start;
  const texts = { condition: condition ?? "", hit_condition: hitCondition ?? "", log_message: logMessage ?? "" };
  return { line: line + 1, column: character ? character + 1 : null, ...texts, enabled };
}
