/** Which breakpoints agents want in the person's sessions, which of them we added, and what the person made of them. */

export interface BreakpointRequest {
  line: number;
  column?: number | null;
  condition?: string;
  hitCondition?: string;
  logMessage?: string;
}

/** What the person did to one of ours: removed it, or changed it. */
export interface PersonEdit {
  session: string;
  path: string;
  line: number;
  now: (BreakpointRequest & { enabled: boolean }) | null;
}

interface AddedBreakpoint {
  path: string;
  wanted: BreakpointRequest;
  isOff: boolean;
  /** Where the debugger placed it: the editor reports that place as if the person had chosen it. */
  bound?: Location;
}

type Location = Pick<BreakpointRequest, "line" | "column">;

export interface Outcome<Mark> {
  /** In the order they are wanted; none where the person has just taken it away. */
  marks: (Mark | undefined)[];
  added: Mark[];
  removed: Mark[];
}

export class RequestedBreakpoints<Mark> {
  /** By session and file. */
  private readonly lists = new Map<string, { session: string; path: string; marks: Mark[] }>();
  private readonly added = new Map<Mark, AddedBreakpoint>();
  /** The person's change is not yet known to the daemon: requests of the daemon until then are older. */
  private readonly unreported = new Map<string, PersonEdit>();

  /** In the form of DAP: the whole list of a file. `theirs` finds one of the person's at that place. */
  set(
    session: string,
    path: string,
    wanted: readonly BreakpointRequest[],
    findPersons: (it: BreakpointRequest) => Mark | undefined,
    make: (it: BreakpointRequest) => Mark,
  ): Outcome<Mark> {
    const added: Mark[] = [];
    const marks = wanted.map((it) => {
      if (this.unreported.get(locationKey(path, it.line))?.now === null) return undefined;
      const known = this.existing(path, it, findPersons);
      if (known !== undefined) return known;
      const mark = make(it);
      this.added.set(mark, { path, wanted: it, isOff: false });
      added.push(mark);
      return mark;
    });
    this.lists.set(`${session} ${path}`, { session, path, marks: marks.filter((it): it is Mark => it !== undefined) });
    return { marks, added, removed: this.unwanted() };
  }

  /** No agent has a breakpoint in it any more; changes by the person must still be reported. */
  released(session: string): Mark[] {
    for (const [key, list] of this.lists) if (list.session === session) this.lists.delete(key);
    return this.unwanted();
  }

  /** A breakpoint that was requested under one name is requested under another. */
  renamed(before: string, session: string): void {
    for (const [key, list] of [...this.lists]) {
      if (list.session !== before) continue;
      this.lists.delete(key);
      this.lists.set(`${session} ${list.path}`, { ...list, session });
    }
  }

  ended(session: string): Mark[] {
    for (const [key, done] of this.unreported) if (done.session === session) this.unreported.delete(key);
    return this.released(session);
  }

  boundAt(mark: Mark, bound: Location): void {
    const ours = this.added.get(mark);
    if (ours) this.added.set(mark, { ...ours, bound });
  }

  /** Our own removals are not the person's changes. */
  removedByPerson(mark: Mark): PersonEdit | undefined {
    const [ours, session] = [this.added.get(mark), this.sessionOf(mark)];
    this.added.delete(mark);
    for (const list of this.lists.values()) list.marks = list.marks.filter((it) => it !== mark);
    if (!ours || session === undefined) return undefined;
    return this.recordEdit({ session, path: ours.path, line: ours.wanted.line, now: null });
  }

  changedByPerson(mark: Mark, current: BreakpointRequest & { enabled: boolean }): PersonEdit | undefined {
    const [ours, session] = [this.added.get(mark), this.sessionOf(mark)];
    if (!ours || session === undefined) return undefined;
    const now = {
      ...current,
      ...(isAt(current, ours.bound) ? { line: ours.wanted.line, column: ours.wanted.column } : {}),
    };
    if (semanticKey(now) === semanticKey(ours.wanted) && now.enabled !== ours.isOff) return undefined;
    this.added.set(mark, { ...ours, wanted: now, isOff: !now.enabled });
    return this.recordEdit({ session, path: ours.path, line: ours.wanted.line, now });
  }

  /** The daemon knows: what it wants from now on is meant so. */
  acknowledge(done: PersonEdit): void {
    const key = locationKey(done.path, done.line);
    if (this.unreported.get(key) === done) this.unreported.delete(key);
  }

  /** Changes that the daemon missed while it was not connected. */
  unacknowledged(): PersonEdit[] {
    return [...this.unreported.values()];
  }

  all(): Mark[] {
    return [...this.added.keys()];
  }

  /** One of ours that means the same, or the person's own, whatever it means. */
  private existing(
    path: string,
    it: BreakpointRequest,
    findPersons: (it: BreakpointRequest) => Mark | undefined,
  ): Mark | undefined {
    const alike = [...this.added].find(
      ([, ours]) => ours.path === path && !ours.isOff && semanticKey(ours.wanted) === semanticKey(it),
    );
    const own = alike ? undefined : findPersons(it);
    return alike?.[0] ?? (own !== undefined && !this.added.has(own) ? own : undefined);
  }

  private recordEdit(done: PersonEdit): PersonEdit {
    this.unreported.set(locationKey(done.path, done.line), done);
    return done;
  }

  private sessionOf(mark: Mark): string | undefined {
    const holding = [...this.lists.values()];
    const path = this.added.get(mark)?.path;
    return (holding.find(({ marks }) => marks.includes(mark)) ?? holding.find((it) => it.path === path))?.session;
  }

  /** One that the person switched off stays to be switched on again, as long as anybody debugs its file. */
  private unwanted(): Mark[] {
    const lists = [...this.lists.values()];
    const isWanted = (mark: Mark, { path, isOff }: AddedBreakpoint): boolean =>
      lists.some((list) => list.marks.includes(mark) || (isOff && list.path === path));
    const stale = [...this.added].filter(([mark, ours]) => !isWanted(mark, ours)).map(([mark]) => mark);
    for (const mark of stale) this.added.delete(mark);
    return stale;
  }
}

function locationKey(path: string, line: number): string {
  return `${path}:${line}`;
}

function isAt(current: Location, bound: Location | undefined): boolean {
  return bound !== undefined && current.line === bound.line && (current.column || 1) === (bound.column || 1);
}

export function semanticKey({ line, column, condition, hitCondition, logMessage }: BreakpointRequest): string {
  return JSON.stringify([line, column || null, condition || "", hitCondition || "", logMessage || ""]);
}
