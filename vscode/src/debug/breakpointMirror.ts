/**
 * Which breakpoints of others the editor shows: what to add, what to remove, and which changes are echoes of our own.
 *
 * The daemon decides: its reports are shown, and a person's change is shown until the daemon has answered.
 */

/** Another client's breakpoint, as the daemon sends it: default values are left out. */
export interface OthersBreakpoint {
  id: number;
  owner: string;
  kind?: string;
  path: string;
  line: number;
  column?: number | null;
  condition?: string;
  hit_condition?: string;
  log_message?: string;
  enabled?: boolean;
  /** The line at which the debugger placed it. */
  boundLine?: number | null;
}

/** What the person changed in one. */
export type BreakpointEdit = Pick<
  OthersBreakpoint,
  "line" | "column" | "condition" | "hit_condition" | "log_message" | "enabled"
>;

export interface MirroredMark<Mark> {
  breakpoint: OthersBreakpoint;
  mark: Mark;
  /** Added by us; otherwise it is the person's own breakpoint, and stays. */
  isOurs: boolean;
}

export interface Changes<Mark> {
  added: OthersBreakpoint[];
  removed: Mark[];
}

/** A request to the daemon, and the session that reported the breakpoint. */
export interface EditRequest {
  session: string;
  breakpoint: OthersBreakpoint;
}

export class BreakpointMirror<Mark> {
  private readonly shown = new Map<number, MirroredMark<Mark>>();
  /** By session, in the order of their last report. */
  private readonly lists = new Map<string, readonly OthersBreakpoint[]>();
  /** A request about it is open: reports that arrive in the meantime may be older. */
  private readonly pendingEdits = new Map<number, number>();

  setList(session: string, list: readonly OthersBreakpoint[]): Changes<Mark> {
    this.lists.delete(session);
    this.lists.set(
      session,
      list.filter(({ kind = "line" }) => kind === "line"),
    );
    return this.changes();
  }

  ended(session: string): Changes<Mark> {
    this.lists.delete(session);
    return this.changes();
  }

  addMark(breakpoint: OthersBreakpoint, mark: Mark, isOurs = true): void {
    this.shown.set(breakpoint.id, { breakpoint, mark, isOurs });
  }

  /** The person removed one: return the request to its owner. A removal of our own needs none. */
  removedByPerson(mark: Mark): EditRequest | undefined {
    const found = this.of(mark);
    const session = found && this.sessionOf(found.breakpoint.id);
    if (!found || session === undefined) return undefined;
    this.shown.delete(found.breakpoint.id);
    this.startEdit(found.breakpoint.id);
    return { session, breakpoint: found.breakpoint };
  }

  /** The person changed one. A repeated report, or a change by the debugger, does not count. */
  changedByPerson(mark: Mark, now: BreakpointEdit): EditRequest | undefined {
    const found = this.of(mark);
    const session = found && this.sessionOf(found.breakpoint.id);
    if (!found?.isOurs || session === undefined) return undefined;
    const breakpoint = {
      ...found.breakpoint,
      ...now,
      ...(isUnmoved(now, found.breakpoint)
        ? { line: found.breakpoint.line, column: found.breakpoint.column ?? null }
        : {}),
    };
    if (semanticKey(breakpoint) === semanticKey(found.breakpoint)) return undefined;
    this.shown.set(breakpoint.id, { ...found, breakpoint });
    this.startEdit(breakpoint.id);
    return { session, breakpoint };
  }

  /** The daemon answered with the current state; or it refused, and the last reported state stays. */
  completeEdit({ session, breakpoint: { id } }: EditRequest, list?: readonly OthersBreakpoint[]): Changes<Mark> {
    const left = (this.pendingEdits.get(id) ?? 1) - 1;
    if (left) this.pendingEdits.set(id, left);
    else this.pendingEdits.delete(id);
    return list && this.lists.has(session) ? this.setList(session, list) : this.changes();
  }

  all(): MirroredMark<Mark>[] {
    return [...this.shown.values()];
  }

  /**
   * The differences from what is shown. A changed breakpoint is removed and added again: the editor's cannot be
   * altered.
   */
  private changes(): Changes<Mark> {
    const wanted = new Map([...this.lists.values()].flat().map((it) => [it.id, it]));
    const stale = [...this.shown.values()].filter(
      ({ breakpoint }) =>
        !this.pendingEdits.has(breakpoint.id) && semanticKey(wanted.get(breakpoint.id)) !== semanticKey(breakpoint),
    );
    for (const { breakpoint } of stale) this.shown.delete(breakpoint.id);
    const added = [...wanted.values()].filter(({ id }) => !this.shown.has(id) && !this.pendingEdits.has(id));
    return { added, removed: stale.filter(({ isOurs }) => isOurs).map(({ mark }) => mark) };
  }

  private of(mark: Mark): MirroredMark<Mark> | undefined {
    return [...this.shown.values()].find((it) => it.mark === mark);
  }

  private sessionOf(id: number): string | undefined {
    return [...this.lists].findLast(([, list]) => list.some((it) => it.id === id))?.[0];
  }

  private startEdit(id: number): void {
    this.pendingEdits.set(id, (this.pendingEdits.get(id) ?? 0) + 1);
  }
}

/** Only the debugger moves a breakpoint: when it binds one, the editor reports line and column as if the person had. */
function isUnmoved({ line }: BreakpointEdit, breakpoint: OthersBreakpoint): boolean {
  return line === breakpoint.line || line === breakpoint.boundLine;
}

export function semanticKey(it: OthersBreakpoint | undefined): string {
  if (!it) return "";
  return JSON.stringify([
    it.path,
    it.line,
    it.column || null,
    it.condition || "",
    it.hit_condition || "",
    it.log_message || "",
    it.enabled ?? true,
  ]);
}
