/** Which breakpoints agents want in the person's sessions, which of them we added, and what the person made of them. */

export interface Wanted {
  line: number;
  column?: number | null;
  condition?: string;
  hitCondition?: string;
  logMessage?: string;
}

/** What the person did to one of ours: nothing left of it, or as it is now. */
export interface Done {
  session: string;
  path: string;
  line: number;
  now: (Wanted & { enabled: boolean }) | null;
}

interface Ours {
  path: string;
  wanted: Wanted;
  isOff: boolean;
  /** Where the debugger put it: the editor says that place as if the person had. */
  bound?: Place;
}

type Place = Pick<Wanted, "line" | "column">;

export interface Outcome<Mark> {
  /** In the order they are wanted; none where the person has just taken it away. */
  marks: (Mark | undefined)[];
  added: Mark[];
  removed: Mark[];
}

export class Wanting<Mark> {
  /** By session and file. */
  private readonly lists = new Map<string, { session: string; path: string; marks: Mark[] }>();
  private readonly ours = new Map<Mark, Ours>();
  /** Done by the person, and not yet known to the daemon: what it wants meanwhile is older. */
  private readonly untold = new Map<string, Done>();

  /** As DAP sets them: the whole list of a file. `theirs` finds one of the person's at that place. */
  set(session: string, path: string, wanted: readonly Wanted[], theirs: (it: Wanted) => Mark | undefined, make: (it: Wanted) => Mark): Outcome<Mark> {
    const added: Mark[] = [];
    const marks = wanted.map((it) => {
      if (this.untold.get(place(path, it.line))?.now === null) return undefined;
      const there = this.there(path, it, theirs);
      if (there !== undefined) return there;
      const mark = make(it);
      this.ours.set(mark, { path, wanted: it, isOff: false });
      added.push(mark);
      return mark;
    });
    this.lists.set(`${session} ${path}`, { session, path, marks: marks.filter((it): it is Mark => it !== undefined) });
    return { marks, added, removed: this.unwanted() };
  }

  /** Nobody wants anything in it any more; what the person did meanwhile is still to be told. */
  released(session: string): Mark[] {
    for (const [key, list] of this.lists) if (list.session === session) this.lists.delete(key);
    return this.unwanted();
  }

  /** What was wanted under one name is wanted under another. */
  renamed(before: string, session: string): void {
    for (const [key, list] of [...this.lists]) {
      if (list.session !== before) continue;
      this.lists.delete(key);
      this.lists.set(`${session} ${list.path}`, { ...list, session });
    }
  }

  ended(session: string): Mark[] {
    for (const [key, done] of this.untold) if (done.session === session) this.untold.delete(key);
    return this.released(session);
  }

  boundAt(mark: Mark, bound: Place): void {
    const ours = this.ours.get(mark);
    if (ours) this.ours.set(mark, { ...ours, bound });
  }

  /** What we took away ourselves is nobody's doing. */
  takenAway(mark: Mark): Done | undefined {
    const [ours, session] = [this.ours.get(mark), this.sessionOf(mark)];
    this.ours.delete(mark);
    for (const list of this.lists.values()) list.marks = list.marks.filter((it) => it !== mark);
    if (!ours || session === undefined) return undefined;
    return this.did({ session, path: ours.path, line: ours.wanted.line, now: null });
  }

  altered(mark: Mark, told: Wanted & { enabled: boolean }): Done | undefined {
    const [ours, session] = [this.ours.get(mark), this.sessionOf(mark)];
    if (!ours || session === undefined) return undefined;
    const now = { ...told, ...(isAt(told, ours.bound) ? { line: ours.wanted.line, column: ours.wanted.column } : {}) };
    if (meaning(now) === meaning(ours.wanted) && now.enabled !== ours.isOff) return undefined;
    this.ours.set(mark, { ...ours, wanted: now, isOff: !now.enabled });
    return this.did({ session, path: ours.path, line: ours.wanted.line, now });
  }

  /** The daemon knows: what it wants from now on is meant so. */
  known(done: Done): void {
    const key = place(done.path, done.line);
    if (this.untold.get(key) === done) this.untold.delete(key);
  }

  /** What it does not know yet, since it was away. */
  unknown(): Done[] {
    return [...this.untold.values()];
  }

  all(): Mark[] {
    return [...this.ours.keys()];
  }

  /** One of ours that means the same, or the person's own, whatever it means. */
  private there(path: string, it: Wanted, theirs: (it: Wanted) => Mark | undefined): Mark | undefined {
    const alike = [...this.ours].find(([, ours]) => ours.path === path && !ours.isOff && meaning(ours.wanted) === meaning(it));
    const own = alike ? undefined : theirs(it);
    return alike?.[0] ?? (own !== undefined && !this.ours.has(own) ? own : undefined);
  }

  private did(done: Done): Done {
    this.untold.set(place(done.path, done.line), done);
    return done;
  }

  private sessionOf(mark: Mark): string | undefined {
    const holding = [...this.lists.values()];
    const path = this.ours.get(mark)?.path;
    return (holding.find(({ marks }) => marks.includes(mark)) ?? holding.find((it) => it.path === path))?.session;
  }

  /** One that the person switched off stays to be switched on again, as long as anybody debugs its file. */
  private unwanted(): Mark[] {
    const lists = [...this.lists.values()];
    const isWanted = (mark: Mark, { path, isOff }: Ours): boolean =>
      lists.some((list) => list.marks.includes(mark) || (isOff && list.path === path));
    const stale = [...this.ours].filter(([mark, ours]) => !isWanted(mark, ours)).map(([mark]) => mark);
    for (const mark of stale) this.ours.delete(mark);
    return stale;
  }
}

function place(path: string, line: number): string {
  return `${path}:${line}`;
}

function isAt(told: Place, bound: Place | undefined): boolean {
  return bound !== undefined && told.line === bound.line && (told.column || 1) === (bound.column || 1);
}

export function meaning({ line, column, condition, hitCondition, logMessage }: Wanted): string {
  return JSON.stringify([line, column || null, condition || "", hitCondition || "", logMessage || ""]);
}
