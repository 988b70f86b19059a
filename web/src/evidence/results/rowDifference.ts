/** Where the rows of two runs differ. */
import type { RunRow } from "./toolResults";

/** In every run at another place. */
const ADDRESS = /0x[0-9a-fA-F]{5,}/g;

export function isSame(one: string | undefined, other: string | undefined): boolean {
  return one?.replace(ADDRESS, "0x") === other?.replace(ADDRESS, "0x");
}

/** The number of the first row in which the runs differ; where one has no more rows, the row after its last one. */
export function firstDifference(one: readonly RunRow[], other: readonly RunRow[]): number {
  const shorter = Math.min(one.length, other.length);
  for (let at = 0; at < shorter; at++) {
    const [a, b] = [one[at]!, other[at]!];
    if (a.point !== b.point || a.cells.some((it, index) => !isSame(it, b.cells[index]))) return at;
  }
  return shorter;
}
