/** What happened, the newest first, and a stop of before that is looked at instead of the present. */
import type { Row } from "../link";
import { who } from "../parts/who";
import { doing, merged, type Doing } from "./doings";
import { pastStop, pastStops, type Past } from "./past";

const STARTS = 500;

export class Story {
  doings: Doing[] = [];
  then: Past | null = null;
  /** Of which session the stops of before are known. */
  private recalled = "";
  /** Counts whatever is looked at: what was asked for before that is not shown any more. */
  private glance = 0;
  private readonly starts = new Map<string, { at: number; by: unknown }>();

  tell(rows: Row[]): void {
    for (const { at_ns, event } of rows) if (event.kind === "debug.started") this.starts.set(event.session ?? "", { at: at_ns / 1e6, by: event.body?.["by"] });
    for (const oldest of this.starts.keys()) if (this.starts.size > STARTS) this.starts.delete(oldest);
    this.doings = merged(this.doings, rows.map(doing).filter((it) => it !== null));
  }

  /** Of a record that was erased in part: what is left is told again. */
  clear(): void {
    this.lookAtNow();
    this.starts.clear();
    [this.doings, this.recalled] = [[], ""];
  }

  /** When a session was started, and by whom: several may have one name. */
  begun(session: string): { at: number; who: string } | null {
    const it = this.starts.get(session);
    return it ? { at: it.at, who: who(it.by) } : null;
  }

  async recall(workspace: string, session: string): Promise<void> {
    if (!session || session === this.recalled) return;
    const stops = await pastStops(workspace, session);
    this.doings = merged(this.doings, stops); // with what was heard while these were asked for
    this.recalled = session;
  }

  /** Null where something else was looked at before it came. */
  async lookBack(workspace: string, session: string, number: number): Promise<Past | null> {
    const glance = ++this.glance;
    const then = await pastStop(workspace, session, number);
    if (glance !== this.glance) return null;
    this.then = then;
    return then;
  }

  lookAtNow(): void {
    this.glance++;
    this.then = null;
  }

  /** How many stops a session had, as far as this page was told. */
  lastStop(session: string): number {
    return Math.max(0, ...this.doings.filter((it) => it.session === session).map(({ stop }) => stop));
  }
}
