/** The lanes of a timeline: one for the program, and one for each person and agent, in the order in which they came. */
import { t } from "../../link";
import type { TimelineEntry } from "../timelineEntries";

export interface Lane {
  name: string;
  /** Which of the colours: zero is the program's. */
  colour: number;
  count: number;
}

/** Colours of actors; with more of them, the colours are used again. */
const COLOURS = 7;

/** Entries of the program lie in its own lane, the first one. */
export function lanesOf(entries: readonly TimelineEntry[]): { lanes: Lane[]; laneOf: Uint8Array } {
  const lanes: Lane[] = [{ name: t("Program"), colour: 0, count: 0 }];
  const indexes = new Map<string, number>([["", 0]]);
  const laneOf = new Uint8Array(entries.length);
  entries.forEach(({ actor, kind }, at) => {
    const whose = kind === "stop" || kind === "output" ? "" : actor;
    let index = indexes.get(whose);
    if (index === undefined) {
      index = Math.min(lanes.length, 255);
      indexes.set(whose, index);
      if (index === lanes.length) lanes.push({ name: whose, colour: 1 + ((index - 1) % COLOURS), count: 0 });
    }
    laneOf[at] = Math.min(index, lanes.length - 1);
    lanes[laneOf[at]!]!.count++;
  });
  return { lanes, laneOf };
}
