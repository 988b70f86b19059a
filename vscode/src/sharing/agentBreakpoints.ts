/** Agents' breakpoints in sessions of the person's: set by the editor itself, and taken back with the session. */
import * as vscode from "vscode";

import type { Json } from "../bridge/rpcConnection";
import { StaleBreakpoints } from "../debug/staleBreakpoints";
import { createBreakpoint, BreakpointLabels } from "../debug/breakpointLabels";
import { semanticKey, RequestedBreakpoints, type PersonEdit, type BreakpointRequest } from "./requestedBreakpoints";

const t = vscode.l10n.t;
const BOUND_WITHIN_MS = 2000;
const POLL_INTERVAL_MS = 50;

export class AgentBreakpoints implements vscode.Disposable {
  private readonly requested = new RequestedBreakpoints<vscode.SourceBreakpoint>();
  private readonly labels = new BreakpointLabels();
  private readonly subscriptions: vscode.Disposable[];
  private readonly stale: StaleBreakpoints;

  /** `tell` reports the person's change to the daemon, and returns true once it has arrived. */
  constructor(
    memory: vscode.Memento,
    private readonly report: (done: PersonEdit) => Promise<boolean>,
  ) {
    this.stale = new StaleBreakpoints(memory, "dragoman.agentsBreakpoints");
    this.subscriptions = [
      this.labels,
      this.stale,
      vscode.debug.onDidChangeBreakpoints((event) => this.changed(event)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
    ];
  }

  dispose(): void {
    vscode.debug.removeBreakpoints(this.requested.all());
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  async set(session: vscode.DebugSession, { source, breakpoints }: Json): Promise<Json> {
    const [path, wanted] = [String((source as Json).path), breakpoints as BreakpointRequest[]];
    const marks = this.request(session.id, path, wanted);
    const answers = await Promise.all(marks.map((mark, index) => bindingOf(session, mark, wanted[index]!)));
    for (const [index, mark] of marks.entries()) if (mark) this.requested.boundAt(mark, boundLocation(answers[index]!));
    return { breakpoints: answers };
  }

  /** For a session that is about to start: its debugger gets them with all others. */
  prepare(start: string, lists: readonly Json[]): void {
    for (const { source, breakpoints } of lists)
      this.request(start, String((source as Json).path), breakpoints as BreakpointRequest[]);
  }

  /** It has started, and they are that session's; or came to nothing. */
  started(start: string, session?: vscode.DebugSession): void {
    if (session) this.requested.renamed(start, session.id);
    else vscode.debug.removeBreakpoints(this.requested.released(start));
    this.draw();
  }

  private request(session: string, path: string, wanted: BreakpointRequest[]): (vscode.SourceBreakpoint | undefined)[] {
    const { marks, added, removed } = this.requested.set(
      session,
      path,
      wanted,
      (it) => personBreakpoint(path, it),
      (it) => createBreakpoint({ path, ...it }),
    );
    vscode.debug.removeBreakpoints(removed);
    vscode.debug.addBreakpoints(added);
    this.draw();
    return marks;
  }

  /** Whether agents want it, and we added it. */
  has(mark: vscode.SourceBreakpoint): boolean {
    return this.requested.all().includes(mark);
  }

  /** No agent has the session any more. */
  released(session: vscode.DebugSession): void {
    vscode.debug.removeBreakpoints(this.requested.released(session.id));
    this.draw();
  }

  ended(session: vscode.DebugSession): void {
    vscode.debug.removeBreakpoints(this.requested.ended(session.id));
    this.draw();
  }

  /** The daemon is reachable again, perhaps another one: the person's changes in the meantime are sent first. */
  async reportAgain(): Promise<void> {
    await Promise.all(this.requested.unacknowledged().map((done) => this.reportEdit(done)));
  }

  private changed({ removed, changed }: vscode.BreakpointsChangeEvent): void {
    const sources = (all: readonly vscode.Breakpoint[]) =>
      all.filter((it): it is vscode.SourceBreakpoint => it instanceof vscode.SourceBreakpoint);
    const done = [
      ...sources(removed).map((it) => this.requested.removedByPerson(it)),
      ...sources(changed).map((it) => this.requested.changedByPerson(it, currentState(it))),
    ];
    for (const one of done) if (one) void this.reportEdit(one);
    this.draw();
  }

  private async reportEdit(done: PersonEdit): Promise<void> {
    if (await this.report(done)) this.requested.acknowledge(done);
  }

  /** They stand among the person's, and are seen not to be theirs. */
  private draw(): void {
    void this.stale.store(this.requested.all());
    const places = this.requested
      .all()
      .map(({ location: { uri, range } }) => ({ path: uri.fsPath, line: range.start.line + 1 }));
    this.labels.draw(places, () => t("breakpoint of an agent"));
  }
}

/** A breakpoint that the person already has there stays the person's. */
function personBreakpoint(path: string, { line }: BreakpointRequest): vscode.SourceBreakpoint | undefined {
  return vscode.debug.breakpoints.find(
    (it): it is vscode.SourceBreakpoint =>
      it instanceof vscode.SourceBreakpoint &&
      it.enabled &&
      it.location.uri.fsPath === path &&
      it.location.range.start.line === line - 1,
  );
}

function boundLocation({ line, column }: Json): { line: number; column: number | null } {
  return { line: Number(line), column: typeof column === "number" ? column : null };
}

export function currentState({
  location,
  enabled,
  condition,
  hitCondition,
  logMessage,
}: vscode.SourceBreakpoint): BreakpointRequest & { enabled: boolean } {
  const { line, character } = location.range.start;
  const texts = { condition: condition ?? "", hitCondition: hitCondition ?? "", logMessage: logMessage ?? "" };
  return { line: line + 1, column: character ? character + 1 : null, ...texts, enabled };
}

/** How the adapter bound it, once the editor reports that. */
async function bindingOf(
  session: vscode.DebugSession,
  mark: vscode.SourceBreakpoint | undefined,
  wanted: BreakpointRequest,
): Promise<Json> {
  const { line } = wanted;
  if (!mark) return { verified: false, line, message: t("The person removed this breakpoint.") };
  if (semanticKey({ ...currentState(mark), column: null }) !== semanticKey({ ...wanted, column: null }))
    return {
      verified: false,
      line,
      message: t("The person has a breakpoint there with a different condition or message. Theirs is used."),
    };
  const deadline = Date.now() + BOUND_WITHIN_MS;
  while (Date.now() < deadline) {
    const adapterBreakpoint = await session.getDebugProtocolBreakpoint(mark);
    if (adapterBreakpoint) return { line, ...(adapterBreakpoint as unknown as Json) };
    await new Promise((settle) => setTimeout(settle, POLL_INTERVAL_MS));
  }
  return { verified: false, line };
}
