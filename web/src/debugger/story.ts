/** What happened, the newest first, and a stop of before that is looked at instead of the present. */
import type { Row } from "../link";
import { doing, merged, type Doing } from "./doings";
import { pastStop, pastStops, type Past } from "./past";

export class Story {
  doings: Doing[] = [];
  then: Past | null = null;
  /** Of which session the stops of before are known. */
  private recalled = "";
  /** Counts whatever is looked at: what was asked for before that is not shown any more. */
  private glance = 0;

  tell(rows: Row[]): void {
    this.doings = merged(this.doings, rows.map(doing).filter((it) => it !== null));
  }

  async recall(workspace: string, session: string): Promise<void> {
    if (!session || session === this.recalled) return;
    this.doings = merged(this.doings, await pastStops(workspace, session));
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
