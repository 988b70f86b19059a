/** What the page knows of past and present sessions, and the moment that is shown instead of the present. */
import { request, type FeedRow } from "../link";
import type { OutputLine } from "../debugger/output/outputLines";
import { actorName } from "../parts/actors";
import { EntryList } from "./entryList";
import { beforeStops, fetchPastStop, type PastStop } from "./pastStops";
import { fetchStopRecords, frameOf, pastStop, recordEntry, type StopRecord } from "./stopRecords";
import { fetchOutput, TimedOutput } from "./timedOutput";
import { entryKey, timelineEntry, type TimelineEntry } from "./timelineEntries";

const STARTS = 500;
const EVENTS_AT_ONCE = 1000;

export class SessionHistory {
  /** The stop that the shown moment belongs to; null at the present. */
  pastStop: PastStop | null = null;
  /** The moment that is shown; null at the present, and for a stop that only its number is known of. */
  moment: TimelineEntry | null = null;
  /** Stops of the loaded session, in order. */
  stops: StopRecord[] = [];
  /** What the loaded session printed. */
  readonly output = new TimedOutput();
  private readonly list = new EntryList();
  /** The session whose past is loaded or being loaded. */
  private loadedSession = "";
  private workspace = "";
  /** The last stop or end that was reported when its past was read. */
  private readUpTo = 0;
  /** Counts selections: the answer to an earlier request is not shown. */
  private requestCount = 0;
  private readonly starts = new Map<string, { at: number; by: unknown }>();
  /** Counts what was erased or left: an answer from before is dropped. */
  private round = 0;

  add(rows: FeedRow[]): void {
    for (const { at_ns, event } of rows)
      if (event.kind === "debug.started")
        this.starts.set(event.session ?? "", { at: at_ns / 1e6, by: event.body?.["by"] });
    for (const oldest of this.starts.keys()) if (this.starts.size > STARTS) this.starts.delete(oldest);
    this.list.add(rows.map(timelineEntry).filter((it) => it !== null));
  }

  /** Part of the record was erased: read the rest again. */
  clear(): void {
    this.showPresent();
    this.starts.clear();
    this.list.clear();
    this.leave("");
  }

  /** Of one session with what happened around it; the oldest first. */
  of(session: string): readonly TimelineEntry[] {
    return this.list.of(session);
  }

  newestOf(session: string, is: (entry: TimelineEntry) => unknown): TimelineEntry | undefined {
    return this.list.of(session).findLast((it) => it.session === session && is(it));
  }

  /** When a session was started, and by which client: several sessions may have one name. */
  startOf(session: string): { at: number; actor: string } | null {
    const it = this.starts.get(session);
    return it ? { at: it.at, actor: actorName(it.by) } : null;
  }

  /**
   * Reads what is not known yet of a session: all of it at first, then what was added. What arrives for a session that
   * is no longer selected, or of a cleared record, is dropped.
   */
  async load(workspace: string, session: string, changed: () => void): Promise<void> {
    if (!session) return;
    const isNew = session !== this.loadedSession;
    if (isNew) this.leave(session);
    const newest = this.newestOf(session, ({ kind, sequence }) => sequence && (kind === "stop" || kind === "end"));
    if (!isNew && (newest?.sequence ?? 0) <= this.readUpTo) return;
    this.readUpTo = newest?.sequence ?? 0;
    this.workspace = workspace;
    const { round } = this;
    try {
      const parts = [this.loadStops(session, round, changed), this.loadOutput(session, round)];
      await Promise.all(isNew ? [...parts, this.loadEvents(session, round, changed)] : parts);
    } catch (error) {
      if (round === this.round) this.leave("");
      throw error;
    }
  }

  private leave(session: string): void {
    this.round++;
    this.loadedSession = session;
    this.stops = [];
    this.output.clear();
  }

  private async loadEvents(session: string, round: number, changed: () => void): Promise<void> {
    for (let [after, more] = [0, true]; more;) {
      const path = `/api/events?after=${after}&limit=${EVENTS_AT_ONCE}&session=${encodeURIComponent(session)}`;
      const answer = await request<{ events: FeedRow[]; more: boolean }>(path);
      if (round !== this.round) return;
      this.add(answer.events);
      after = answer.events.at(-1)?.sequence ?? 0;
      ({ more } = answer);
      changed();
    }
  }

  private async loadStops(session: string, round: number, changed: () => void): Promise<void> {
    for await (const records of fetchStopRecords(session, this.stops.at(-1)?.number ?? 0)) {
      if (round !== this.round) return;
      const last = this.stops.at(-1)?.number ?? 0;
      const fresh = records.filter(({ number }) => number > last);
      this.stops = [...this.stops, ...fresh];
      this.list.add(fresh.map((it) => recordEntry(session, this.workspace, it)));
      changed();
    }
  }

  private async loadOutput(session: string, round: number): Promise<void> {
    const record = await fetchOutput(session, this.output.end);
    if (round !== this.round || record.start < this.output.end) return;
    this.output.add(record);
    this.list.add(this.output.entries(session));
  }

  /** At once where its stop is loaded. Null if another selection was made before the answer arrived. */
  async showStop(workspace: string, session: string, number: number): Promise<PastStop | null> {
    const glance = ++this.requestCount;
    const then = this.loadedStop(session, number) ?? (await fetchPastStop(workspace, session, number));
    if (glance !== this.requestCount) return null;
    this.moment = this.list.of(session).find((it) => it.session === session && it.stop === number) ?? null;
    this.pastStop = then;
    return then;
  }

  /** A moment of the loaded session, with the last stop before it. */
  showMoment(session: string, entry: TimelineEntry): PastStop {
    this.requestCount++;
    const entries = this.list.of(session);
    let at = entries.indexOf(entry);
    if (at < 0) at = entries.findIndex((it) => entryKey(it) === entryKey(entry)); // the list was made anew meanwhile
    while (at >= 0 && !(entries[at]!.stop && entries[at]!.session === session)) at--;
    const stop = at >= 0 ? entries[at]!.stop : 0;
    this.moment = entry;
    const isShown = this.pastStop?.session === session && this.pastStop.number === stop;
    if (!isShown) this.pastStop = this.loadedStop(session, stop) ?? beforeStops(session);
    return this.pastStop!;
  }

  private loadedStop(session: string, number: number): PastStop | null {
    if (session !== this.loadedSession) return null;
    const index = this.stops.findIndex((it) => it.number === number);
    if (index < 0) return null;
    const record = this.stops[index]!;
    const place = frameOf(record);
    const isSameFunction = (it: StopRecord) => frameOf(it)?.[0] === place?.[0] && frameOf(it)?.[1] === place?.[1];
    return pastStop(session, this.workspace, record, this.stops.slice(0, index).findLast(isSameFunction));
  }

  /** What variables hold at the last stop, if it is in the function of the shown one. */
  presentValues(session: string): ReadonlyMap<string, string> | null {
    const last = this.stops.at(-1);
    if (!last || session !== this.loadedSession || last.number === this.pastStop?.number) return null;
    if (frameOf(last)?.[0] !== this.shownFunction) return null;
    return new Map(last.seen[1].map(([name, value]) => [name, value]));
  }

  private get shownFunction(): string | undefined {
    const shown = this.stops.find(({ number }) => number === this.pastStop?.number);
    return shown && frameOf(shown)?.[0];
  }

  showPresent(): void {
    this.requestCount++;
    this.pastStop = this.moment = null;
  }

  /** What had been printed by the shown moment; null at the present, and where it is not known. */
  get outputThen(): OutputLine[] | null {
    return this.moment && !this.output.isEmpty ? this.output.linesAt(this.moment.at) : null;
  }

  /** How many stops of a session this page knows. */
  lastStop(session: string): number {
    return this.list.of(session).reduce((most, { stop }) => Math.max(most, stop), 0);
  }
}
