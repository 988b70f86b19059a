/** Which breakpoints of others the editor shows: what to add, what to take away, and whose echo a change is.
 *
 * The daemon has the last word: what it tells is shown, and what the person did is shown until it has answered.
 */

/** Another's breakpoint, as the daemon tells it: what is as usual is left out. */
export interface Told {
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
  /** Where the debugger put it. */
  boundLine?: number | null;
}

/** What the person made of one. */
export type Altered = Pick<Told, "line" | "column" | "condition" | "hit_condition" | "log_message" | "enabled">;

export interface Shown<Mark> {
  told: Told;
  mark: Mark;
  /** Added by us; otherwise the person has one there, and it stays the person's. */
  isOurs: boolean;
}

export interface Changes<Mark> {
  added: Told[];
  removed: Mark[];
}

/** What to ask of the daemon, in the session that told of it. */
export interface Wish {
  session: string;
  told: Told;
}

export class Mirror<Mark> {
  private readonly shown = new Map<number, Shown<Mark>>();
  /** By session; who told last is the last. */
  private readonly lists = new Map<string, readonly Told[]>();
  /** Asked about, and not answered: what is told of it meanwhile may be older. */
  private readonly asked = new Map<number, number>();

  told(session: string, list: readonly Told[]): Changes<Mark> {
    this.lists.delete(session);
    this.lists.set(session, list.filter(({ kind = "line" }) => kind === "line"));
    return this.changes();
  }

  ended(session: string): Changes<Mark> {
    this.lists.delete(session);
    return this.changes();
  }

  keep(told: Told, mark: Mark, isOurs = true): void {
    this.shown.set(told.id, { told, mark, isOurs });
  }

  /** The person took one away: whose it was is told. What we took away ourselves is nobody's. */
  takenAway(mark: Mark): Wish | undefined {
    const found = this.of(mark);
    const session = found && this.sessionOf(found.told.id);
    if (!found || session === undefined) return undefined;
    this.shown.delete(found.told.id);
    this.ask(found.told.id);
    return { session, told: found.told };
  }

  /** The person changed one. What the editor only tells again, or what the debugger did to it, is no change. */
  altered(mark: Mark, now: Altered): Wish | undefined {
    const found = this.of(mark);
    const session = found && this.sessionOf(found.told.id);
    if (!found?.isOurs || session === undefined) return undefined;
    const told = { ...found.told, ...now, ...(isWhereItWas(now, found.told) ? { line: found.told.line, column: found.told.column ?? null } : {}) };
    if (meaning(told) === meaning(found.told)) return undefined;
    this.shown.set(told.id, { ...found, told });
    this.ask(told.id);
    return { session, told };
  }

  /** The daemon answered, with what is so now; or refused, and all is as it was last told. */
  answered({ session, told: { id } }: Wish, list?: readonly Told[]): Changes<Mark> {
    const left = (this.asked.get(id) ?? 1) - 1;
    if (left) this.asked.set(id, left);
    else this.asked.delete(id);
    return list && this.lists.has(session) ? this.told(session, list) : this.changes();
  }

  all(): Shown<Mark>[] {
    return [...this.shown.values()];
  }

  /** What differs from what is shown. One that changed goes and comes: the editor's cannot be altered. */
  private changes(): Changes<Mark> {
    const wanted = new Map([...this.lists.values()].flat().map((it) => [it.id, it]));
    const stale = [...this.shown.values()].filter(({ told }) => !this.asked.has(told.id) && meaning(wanted.get(told.id)) !== meaning(told));
    for (const { told } of stale) this.shown.delete(told.id);
    const added = [...wanted.values()].filter(({ id }) => !this.shown.has(id) && !this.asked.has(id));
    return { added, removed: stale.filter(({ isOurs }) => isOurs).map(({ mark }) => mark) };
  }

  private of(mark: Mark): Shown<Mark> | undefined {
    return [...this.shown.values()].find((it) => it.mark === mark);
  }

  private sessionOf(id: number): string | undefined {
    return [...this.lists].findLast(([, list]) => list.some((it) => it.id === id))?.[0];
  }

  private ask(id: number): void {
    this.asked.set(id, (this.asked.get(id) ?? 0) + 1);
  }
}

/** By the debugger or not at all: where it binds one, the editor tells line and column as if the person had. */
function isWhereItWas({ line }: Altered, told: Told): boolean {
  return line === told.line || line === told.boundLine;
}

export function meaning(it: Told | undefined): string {
  if (!it) return "";
  return JSON.stringify([it.path, it.line, it.column || null, it.condition || "", it.hit_condition || "", it.log_message || "", it.enabled ?? true]);
}
