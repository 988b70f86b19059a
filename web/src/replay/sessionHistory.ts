/** The history, newest first, and the past stop that is shown instead of the current one. */
import type { FeedRow } from "../link";
import { actorName } from "../parts/actors";
import { timelineEntry, mergeEntries, type TimelineEntry } from "./timelineEntries";
import { fetchPastStop, fetchPastStops, type PastStop } from "./pastStops";

const STARTS = 500;

export class SessionHistory {
  entries: TimelineEntry[] = [];
  pastStop: PastStop | null = null;
  /** The session with earlier stops that are loaded or being loaded. */
  private loadedSession = "";
  /** Counts selections: the answer to an earlier request is not shown. */
  private requestCount = 0;
  private readonly starts = new Map<string, { at: number; by: unknown }>();

  add(rows: FeedRow[]): void {
    for (const { at_ns, event } of rows)
      if (event.kind === "debug.started")
        this.starts.set(event.session ?? "", { at: at_ns / 1e6, by: event.body?.["by"] });
    for (const oldest of this.starts.keys()) if (this.starts.size > STARTS) this.starts.delete(oldest);
    this.entries = mergeEntries(
      this.entries,
      rows.map(timelineEntry).filter((it) => it !== null),
    );
  }

  /** Part of the record was erased: read the rest again. */
  clear(): void {
    this.showPresent();
    this.starts.clear();
    [this.entries, this.loadedSession] = [[], ""];
  }

  /** When a session was started, and by which client: several sessions may have one name. */
  startOf(session: string): { at: number; actor: string } | null {
    const it = this.starts.get(session);
    return it ? { at: it.at, actor: actorName(it.by) } : null;
  }

  /** One request at a time. Stops of a session that is no longer selected, or of a cleared record, are dropped. */
  async loadStops(workspace: string, session: string): Promise<void> {
    if (!session || session === this.loadedSession) return;
    this.loadedSession = session;
    try {
      const stops = await fetchPastStops(workspace, session);
      // Merged with the events that arrived in the meantime.
      if (this.loadedSession === session) this.entries = mergeEntries(this.entries, stops);
    } catch (error) {
      if (this.loadedSession === session) this.loadedSession = "";
      throw error;
    }
  }

  /** Null if another selection was made before the answer arrived. */
  async showStop(workspace: string, session: string, number: number): Promise<PastStop | null> {
    const glance = ++this.requestCount;
    const then = await fetchPastStop(workspace, session, number);
    if (glance !== this.requestCount) return null;
    this.pastStop = then;
    return then;
  }

  showPresent(): void {
    this.requestCount++;
    this.pastStop = null;
  }

  /** How many stops of a session this page knows. */
  lastStop(session: string): number {
    return Math.max(0, ...this.entries.filter((it) => it.session === session).map(({ stop }) => stop));
  }
}
