/** Which breakpoints of others the editor shows: what to add, what to take away, and whose echo a change is. */

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
}

export interface Shown<Mark> {
  told: Told;
  mark: Mark;
}

export interface Changes<Mark> {
  added: Told[];
  removed: Mark[];
}

export class Mirror<Mark> {
  private readonly shown = new Map<number, Shown<Mark>>();

  /** What differs from what is shown. A breakpoint that changed goes and comes: the editor's cannot be altered. */
  compare(told: readonly Told[]): Changes<Mark> {
    const wanted = new Map(told.filter(({ kind = "line", enabled = true }) => kind === "line" && enabled).map((it) => [it.id, it]));
    const stale = [...this.shown].filter(([id, { told: before }]) => meaning(wanted.get(id)) !== meaning(before));
    for (const [id] of stale) this.shown.delete(id);
    return { added: [...wanted.values()].filter(({ id }) => !this.shown.has(id)), removed: stale.map(([, { mark }]) => mark) };
  }

  keep(told: Told, mark: Mark): void {
    this.shown.set(told.id, { told, mark });
  }

  /** The person took one away: it is no longer shown, and whose it was is told. What we took away ourselves is nobody's. */
  takenAway(mark: Mark): Told | undefined {
    const found = [...this.shown.values()].find((it) => it.mark === mark);
    if (found) this.shown.delete(found.told.id);
    return found?.told;
  }

  all(): Shown<Mark>[] {
    return [...this.shown.values()];
  }
}

function meaning(it: Told | undefined): string {
  return it ? JSON.stringify([it.path, it.line, it.column ?? null, it.condition, it.hit_condition, it.log_message]) : "";
}
