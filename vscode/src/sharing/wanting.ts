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
}

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
  /** Taken away by the person, and not yet known to the daemon: what it wants meanwhile is older. */
  private readonly gone = new Map<string, Done>();

  /** As DAP sets them: the whole list of a file. `theirs` finds one of the person's at that place. */
  set(session: string, path: string, wanted: readonly Wanted[], theirs: (it: Wanted) => Mark | undefined, make: (it: Wanted) => Mark): Outcome<Mark> {
    const added: Mark[] = [];
    const marks = wanted.map((it) => {
      if (this.gone.has(place(path, it.line))) return undefined;
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

  ended(session: string): Mark[] {
    for (const [key, list] of this.lists) if (list.session === session) this.lists.delete(key);
    if (!this.lists.size) this.gone.clear();
    return this.unwanted();
  }

  /** What we took away ourselves is nobody's doing. */
  takenAway(mark: Mark): Done | undefined {
    const [ours, session] = [this.ours.get(mark), this.sessionOf(mark)];
    this.ours.delete(mark);
    for (const list of this.lists.values()) list.marks = list.marks.filter((it) => it !== mark);
    if (!ours || session === undefined) return undefined;
    const done = { session, path: ours.path, line: ours.wanted.line, now: null };
    this.gone.set(place(ours.path, ours.wanted.line), done);
    return done;
  }

  altered(mark: Mark, now: Wanted & { enabled: boolean }): Done | undefined {
    const [ours, session] = [this.ours.get(mark), this.sessionOf(mark)];
    if (!ours || session === undefined || (meaning(now) === meaning(ours.wanted) && now.enabled !== ours.isOff)) return undefined;
    const done = { session, path: ours.path, line: ours.wanted.line, now };
    this.ours.set(mark, { path: ours.path, wanted: now, isOff: !now.enabled });
    return done;
  }

  /** The daemon knows: what it wants from now on is meant so. */
  known({ path, line }: Done): void {
    this.gone.delete(place(path, line));
  }

  /** What it does not know yet, since it was away. */
  unknown(): Done[] {
    return [...this.gone.values()];
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

export function meaning({ line, column, condition, hitCondition, logMessage }: Wanted): string {
  return JSON.stringify([line, column || null, condition || "", hitCondition || "", logMessage || ""]);
}
