/** Entries in the order in which they happened, each once, however they came: by the feed, or read back later. */
import { entryKey, type TimelineEntry } from "./timelineEntries";

const KEPT = 30_000;

export class EntryList {
  private readonly known = new Map<number | string, TimelineEntry>();
  private readonly views = new Map<string, TimelineEntry[]>();
  /** What only the history of stops knows: when exactly it was, and what was raised. */
  private readonly kept = new Map<number | string, Pick<TimelineEntry, "at" | "detail">>();

  add(entries: readonly TimelineEntry[]): void {
    for (const it of entries) {
      const key = entryKey(it);
      if (!it.sequence && it.stop) this.kept.set(key, { at: it.at, detail: it.detail });
      if (it.sequence || !this.known.has(key)) this.known.set(key, it);
    }
    for (const oldest of this.known.keys()) if (this.known.size > KEPT) this.known.delete(oldest);
    if (entries.length) this.views.clear();
  }

  clear(): void {
    this.known.clear();
    this.views.clear();
    this.kept.clear();
  }

  /** Of one session with what happened around it, or of all; the oldest first. */
  of(session?: string): readonly TimelineEntry[] {
    const key = session ?? "*";
    let view = this.views.get(key);
    if (!view) {
      const every = [...this.known.values()];
      view = this.ordered(session === undefined ? every : ofSession(every, session));
      this.views.set(key, view);
    }
    return view;
  }

  /**
   * Events by their numbers, and what has none by its time. Events are recorded in batches, a moment after they
   * happened: none is later than the stop that follows it.
   */
  private ordered(entries: TimelineEntry[]): TimelineEntry[] {
    const events = entries
      .filter(({ sequence }) => sequence)
      .map((it) => ({ ...it, ...this.kept.get(entryKey(it)) }))
      .sort((a, b) => a.sequence - b.sequence);
    for (let index = events.length - 2; index >= 0; index--)
      events[index]!.at = Math.min(events[index]!.at, events[index + 1]!.at);
    const others = entries.filter(({ sequence }) => !sequence).sort((a, b) => a.at - b.at);
    return merged(events, others);
  }
}

/** What belongs to no session is part of it if it happened around it. */
const AROUND_MS = 10 * 60_000;

function ofSession(entries: TimelineEntry[], session: string): TimelineEntry[] {
  const times = entries.filter((it) => it.session === session).map(({ at }) => at);
  if (!times.length) return entries.filter((it) => !it.session);
  const [first, last] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))];
  return entries.filter(
    (it) => it.session === session || (!it.session && it.at > first - AROUND_MS && it.at < last + AROUND_MS),
  );
}

function merged(some: TimelineEntry[], others: TimelineEntry[]): TimelineEntry[] {
  const all: TimelineEntry[] = [];
  let next = 0;
  for (const it of some) {
    while (next < others.length && others[next]!.at <= it.at) all.push(others[next++]!);
    all.push(it);
  }
  return [...all, ...others.slice(next)];
}
