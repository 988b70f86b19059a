/** Entries as a test needs them: whatever it does not name is nothing. */
import type { TimelineEntry } from "../../src/replay/timelineEntries";

export function entry(given: Partial<TimelineEntry>): TimelineEntry {
  return {
    sequence: 0,
    at: 0,
    session: "s",
    kind: "run",
    actor: "",
    text: "",
    detail: "",
    path: "",
    line: 0,
    stop: 0,
    printed: 0,
    isBad: false,
    rows: [],
    ...given,
  };
}
