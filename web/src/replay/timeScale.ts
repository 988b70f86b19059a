/**
 * Time as a replay shows it: a pause is cut to a length that one waits for gladly, and what happened at once is pulled
 * apart, so that each moment can be seen and pointed at.
 */
import type { TimelineEntry } from "./timelineEntries";

const LONGEST_PAUSE_MS = 2000;
/** The least between two moments; a stop is looked at a little longer. */
const LEAST_MS = 20;
const LEAST_BEFORE_STOP_MS = 150;

export interface Pause {
  /** Where it ends, in replay time. */
  position: number;
  /** How long it was. */
  ms: number;
}

export class TimeScale {
  /** The position of each entry, in milliseconds of replay. */
  readonly positions: Float64Array;
  readonly pauses: Pause[] = [];
  readonly length: number;

  constructor(readonly entries: readonly TimelineEntry[]) {
    this.positions = new Float64Array(entries.length);
    let position = 0;
    for (let index = 1; index < entries.length; index++) {
      const gap = entries[index]!.at - entries[index - 1]!.at;
      const least = entries[index]!.kind === "stop" ? LEAST_BEFORE_STOP_MS : LEAST_MS;
      position += Math.min(LONGEST_PAUSE_MS, Math.max(least, gap));
      if (gap > LONGEST_PAUSE_MS) this.pauses.push({ position, ms: gap });
      this.positions[index] = position;
    }
    this.length = position;
  }

  /** The last entry at a position or before it; the first one where there is none before. */
  indexAt(position: number): number {
    return Math.max(0, firstAfter(this.positions, position) - 1);
  }

  /** The entry whose position is nearest. */
  nearest(position: number): number {
    const before = this.indexAt(position);
    const after = Math.min(this.entries.length - 1, before + 1);
    return position - this.positions[before]! <= this.positions[after]! - position ? before : after;
  }

  /** The first entry at a position or after it; the number of all where there is none. */
  indexFrom(position: number): number {
    return firstAfter(this.positions, position - 1e-9);
  }
}

/** The index of the first number that is greater. */
export function firstAfter(sorted: Float64Array | readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The part of the replay that is in sight: it zooms about a place, and never leaves what there is. */
export interface Viewport {
  from: number;
  to: number;
}

const CLOSEST_MS = 200;

export function zoomed(view: Viewport, factor: number, about: number, length: number): Viewport {
  const whole = Math.max(length, 1);
  const width = Math.min(whole, Math.max(Math.min(CLOSEST_MS, whole), (view.to - view.from) * factor));
  const share = (about - view.from) / Math.max(view.to - view.from, 1e-9);
  return moved({ from: about - share * width, to: about + (1 - share) * width }, 0, length);
}

export function moved({ from, to }: Viewport, by: number, length: number): Viewport {
  const width = to - from;
  const start = Math.min(Math.max(0, from + by), Math.max(0, Math.max(length, 1) - width));
  return { from: start, to: start + width };
}

/** So that a position is in sight, moved no further than it must be. */
export function including(view: Viewport, position: number, length: number): Viewport {
  const margin = (view.to - view.from) * 0.05;
  if (position < view.from + margin) return moved(view, position - margin - view.from, length);
  if (position > view.to - margin) return moved(view, position + margin - view.to, length);
  return view;
}

/** Steps of an axis: about so many of them, at round numbers of milliseconds. */
export function tickStep(width: number, most: number): number {
  const rough = Math.max(1, width / Math.max(1, most));
  const rounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5];
  return rounds.find((it) => it >= rough) ?? 36e5 * Math.ceil(rough / 36e5);
}

/** How long a pause was, in few characters. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  return `${Math.floor(ms / 3_600_000)} h`;
}
