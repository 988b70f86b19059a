/** What each variable and expression held over time: at all stops, where it was evaluated, and in traces. */
import { t } from "../../link";
import { frameOf, shortPath, type StopRecord } from "../stopRecords";
import type { TimelineEntry } from "../timelineEntries";

export interface SeriesSource {
  readonly stops: readonly StopRecord[];
  readonly entries: readonly TimelineEntry[];
  readonly workspace: string;
}

export interface SeriesPoint {
  value: string;
  /** Its number; zero where it was read without a stop. */
  stop: number;
  /** Where it was read. */
  place: string;
}

export interface Series {
  key: string;
  name: string;
  /** The function that it belongs to, or how it was read. */
  scope: string;
  points: SeriesPoint[];
  /** How often it was different from the time before. */
  changes: number;
  /** Every value is a number. */
  isNumeric: boolean;
}

const NUMBER = /^[+-]?(\d[\d_]*\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const MOST_SERIES = 2000;

/** Collects series bit by bit, so that thousands of stops hold up nobody. */
export class SeriesIndex {
  private readonly all = new Map<string, Series>();
  private stopsTaken = 0;
  private entriesTaken = 0;

  constructor(private readonly source: SeriesSource) {}

  /** Whether it belongs to this source: more may have been added to it at the end. */
  isOf({ stops, entries }: SeriesSource): boolean {
    const { stops: known } = this.source;
    return stops[0] === known[0] && stops.length === known.length && entries === this.source.entries;
  }

  /** Takes in as much as it can within a time. Returns whether everything has been taken. */
  collect(budgetMs: number, now = () => performance.now()): boolean {
    const { stops, entries } = this.source;
    const end = now() + budgetMs;
    for (; this.stopsTaken < stops.length; this.stopsTaken++) {
      if (now() > end) return false;
      this.takeStop(stops[this.stopsTaken]!);
    }
    for (; this.entriesTaken < entries.length; this.entriesTaken++) {
      if (now() > end) return false;
      this.takeEntry(entries[this.entriesTaken]!);
    }
    return true;
  }

  /** Those that changed first; the others hold no clue. */
  list(): Series[] {
    return [...this.all.values()].sort((a, b) => Number(b.changes > 0) - Number(a.changes > 0));
  }

  private takeStop(record: StopRecord): void {
    const [name = "", path = "", line = 0] = frameOf(record) ?? [];
    const place = `${baseName(shortPath(path, this.source.workspace))}:${line}`;
    for (const [variable, value] of record.seen[1])
      this.add(`${name}\u0000${variable}`, variable, name, { value, stop: record.number, place });
  }

  private takeEntry(entry: TimelineEntry): void {
    if (entry.kind === "evaluation" && entry.detail)
      this.add(`=\u0000${entry.text}`, expressionOf(entry), t("evaluated"), {
        value: entry.detail,
        stop: this.stopBefore(entry),
        place: entry.actor,
      });
    const last: Record<string, string> = {};
    for (const row of entry.rows) {
      Object.assign(last, row.values);
      for (const [name, value] of Object.entries(last))
        this.add(`@${entry.sequence}\u0000${name}`, name, t("traced"), {
          value: row.errors?.[name] ?? value,
          stop: 0,
          place: t("hit {number}", { number: row.hit }),
        });
    }
  }

  private stopBefore(entry: TimelineEntry): number {
    return this.source.stops.findLast(({ at_ns }) => at_ns / 1e6 <= entry.at)?.number ?? 0;
  }

  private add(key: string, name: string, scope: string, point: SeriesPoint): void {
    let series = this.all.get(key);
    if (!series) {
      if (this.all.size >= MOST_SERIES) return;
      series = { key, name, scope, points: [], changes: 0, isNumeric: true };
      this.all.set(key, series);
    }
    const before = series.points.at(-1);
    if (before && before.value !== point.value) series.changes++;
    series.isNumeric &&= NUMBER.test(point.value);
    series.points.push(point);
  }
}

function expressionOf({ text: words }: TimelineEntry): string {
  const [before = "", after = ""] = t("evaluated {name}").split("{name}");
  return words.slice(before.length, words.length - after.length || undefined);
}

export function numberOf(point: SeriesPoint): number {
  return Number(point.value.replaceAll("_", ""));
}

/** The first point with another value than the one before it, or than a given one; -1 where none differs. */
export function firstDifference(points: readonly SeriesPoint[], value = ""): number {
  return points.findIndex((it, index) =>
    value ? it.value !== value : index > 0 && it.value !== points[index - 1]!.value,
  );
}

export interface ChartPoint {
  /** From 0 to 1, both. */
  x: number;
  y: number;
  index: number;
}

/** At most so many points of a curve, with its peaks kept: the least and the greatest of each part of it. */
export function chartPoints({ points }: Series, most: number): ChartPoint[] {
  const values = points.map(numberOf);
  const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  const at = (index: number): ChartPoint => ({
    x: points.length > 1 ? index / (points.length - 1) : 0.5,
    y: high > low ? (values[index]! - low) / (high - low) : 0.5,
    index,
  });
  if (points.length <= most) return points.map((_, index) => at(index));
  const chosen = new Set<number>([0, points.length - 1]);
  const width = points.length / Math.floor(most / 2);
  for (let from = 0; from < points.length; from += width) {
    const [begin, end] = [Math.floor(from), Math.min(points.length, Math.floor(from + width))];
    let [least, greatest] = [begin, begin];
    for (let index = begin; index < end; index++) {
      if (values[index]! < values[least]!) least = index;
      if (values[index]! > values[greatest]!) greatest = index;
    }
    chosen.add(least).add(greatest);
  }
  return [...chosen].sort((a, b) => a - b).map(at);
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
