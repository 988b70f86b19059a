/**
 * Others' breakpoints of this window's sessions, shown among the person's and marked as belonging to others.
 *
 * The extension adds them, because the editor lists only breakpoints of its own: those that an adapter reports are
 * drawn and not listed. When the editor then sends one back, the daemon recognises the echo.
 */
import * as vscode from "vscode";

import { notificationText } from "../bridge/notificationText";
import { TYPE } from "./debugType";
import { StaleBreakpoints, MIRRORED } from "./staleBreakpoints";
import {
  BreakpointMirror,
  type BreakpointEdit,
  type Changes,
  type OthersBreakpoint,
  type EditRequest,
} from "./breakpointMirror";
import { createBreakpoint, BreakpointLabels } from "./breakpointLabels";

const t = vscode.l10n.t;
const EVENT = "dragomanBreakpoints";
const PERSON = /^person-[^:]+:(.*)$/s;

type List = { breakpoints: OthersBreakpoint[] };

export class MirroredBreakpoints implements vscode.Disposable {
  private readonly mirror = new BreakpointMirror<vscode.Breakpoint>();
  private readonly sessions = new Map<string, vscode.DebugSession>();
  private readonly labels = new BreakpointLabels();
  private readonly subscriptions: vscode.Disposable[];
  private readonly stale: StaleBreakpoints;

  constructor(memory: vscode.Memento) {
    this.stale = new StaleBreakpoints(memory, MIRRORED);
    this.subscriptions = [
      this.labels,
      this.stale,
      vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
        if (session.type === TYPE && event === EVENT) this.setList(session, body as List);
      }),
      vscode.debug.onDidTerminateDebugSession(({ id }) => this.ended(id)),
      vscode.debug.onDidChangeBreakpoints((event) => this.changed(event)),
      vscode.window.onDidChangeVisibleTextEditors(() => void this.draw()),
    ];
  }

  dispose(): void {
    for (const id of [...this.sessions.keys()]) this.ended(id);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private setList(session: vscode.DebugSession, { breakpoints }: List): void {
    this.sessions.set(session.id, session);
    this.show(this.mirror.setList(session.id, breakpoints));
  }

  /** They were the others': with the session they leave the person's list. */
  private ended(session: string): void {
    if (this.sessions.delete(session)) this.show(this.mirror.ended(session));
  }

  private show({ added, removed }: Changes<vscode.Breakpoint>): void {
    vscode.debug.removeBreakpoints(removed);
    const marks = added.flatMap((others) => this.createMark(others)); // recorded before the editor reports them to us
    const stored = this.draw();
    if (marks.length) void stored.catch(() => undefined).then(() => this.add(marks));
  }

  /**
   * Added after they are stored: a window that is reloaded in between would keep them as the person's own. Breakpoints
   * that the daemon removed in the meantime are not added.
   */
  private add(marks: readonly vscode.Breakpoint[]): void {
    const wanted = new Set(this.mirror.all().map(({ mark }) => mark));
    vscode.debug.addBreakpoints(marks.filter((mark) => wanted.has(mark)));
  }

  /** Where the person already has one, the editor would not show a second one. */
  private createMark(others: OthersBreakpoint): vscode.Breakpoint[] {
    const personMark = vscode.debug.breakpoints.find((it) => isAt(it, others) && !this.stale.has(it));
    const mark =
      personMark ?? createBreakpoint({ ...others, hitCondition: others.hit_condition, logMessage: others.log_message });
    this.mirror.addMark(others, mark, !personMark);
    return personMark ? [] : [mark];
  }

  private changed({ removed, changed }: vscode.BreakpointsChangeEvent): void {
    for (const mark of removed) this.sendEdit("dragomanRemoveBreakpoint", this.mirror.removedByPerson(mark));
    for (const mark of changed) {
      if (mark instanceof vscode.SourceBreakpoint)
        this.sendEdit("dragomanChangeBreakpoint", this.mirror.changedByPerson(mark, currentState(mark)));
    }
    void this.draw();
  }

  /**
   * The last writer wins, whoever owns it. The change is sent through the session, which is in the right folder and may
   * be read-only.
   */
  private sendEdit(command: string, edit: EditRequest | undefined): void {
    if (!edit) return;
    const { id, line, column, condition, hit_condition, log_message, enabled } = edit.breakpoint;
    const given = { id, line, column, condition, hitCondition: hit_condition, logMessage: log_message, enabled };
    void Promise.resolve(this.sessions.get(edit.session)?.customRequest(command, given)).then(
      (list: List | undefined) => this.show(this.mirror.completeEdit(edit, list?.breakpoints)),
      () => this.show(this.mirror.completeEdit(edit)),
    );
  }

  /** Resolves when the breakpoints that are not the person's are stored. */
  private draw(): Promise<void> {
    const shown = this.mirror.all();
    this.labels.draw(
      shown.map(({ breakpoint: others }) => others),
      ({ owner }) => ownerLabel(owner),
    );
    return this.stale.store(shown.filter(({ isOurs }) => isOurs).map(({ mark }) => mark));
  }
}

/** An agent's, or one of a person at another editor. */
export function ownerLabel(owner: string): string {
  const [, program] = PERSON.exec(owner) ?? [];
  return program === undefined
    ? t("breakpoint of an agent")
    : t("breakpoint of a person in {0}", notificationText(program));
}

function isAt(it: vscode.Breakpoint, { path, line, column }: OthersBreakpoint): boolean {
  if (!(it instanceof vscode.SourceBreakpoint) || it.location.uri.fsPath !== path) return false;
  const { start } = it.location.range;
  return start.line === line - 1 && start.character === (column ? column - 1 : 0);
}

function currentState({
  location,
  enabled,
  condition,
  hitCondition,
  logMessage,
}: vscode.SourceBreakpoint): BreakpointEdit {
  const { line, character } = location.range.start;
  const texts = { condition: condition ?? "", hit_condition: hitCondition ?? "", log_message: logMessage ?? "" };
  return { line: line + 1, column: character ? character + 1 : null, ...texts, enabled };
}
