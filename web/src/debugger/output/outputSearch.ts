/** Finds a text in the output: a little at a time, so that a hundred thousand lines hold nothing up. */
import { visibleText, type OutputLines } from "./outputLines";

const AT_ONCE = 4000;

export class OutputSearch {
  query = "";
  /** The numbers of the lines with a hit, in order. */
  hits: number[] = [];
  /** The place of the chosen hit among them; -1 without one. */
  chosen = -1;
  private searched = 0;

  find(query: string): void {
    if (query === this.query) return;
    Object.assign(this, { query, hits: [], chosen: -1, searched: 0 });
  }

  /** Searches a part of what is new. Whether more is left. */
  advance(lines: OutputLines, most = AT_ONCE): boolean {
    if (!this.query) return false;
    this.forget(lines.dropped);
    const wanted = this.query.toLowerCase();
    const begin = Math.max(0, this.searched - lines.dropped);
    const end = Math.min(lines.all.length, begin + most);
    for (let index = begin; index < end; index++)
      if (visibleText(lines.all[index]!).toLowerCase().includes(wanted)) this.put(lines.dropped + index);
    // The last line may still grow.
    this.searched = lines.dropped + Math.max(begin, end === lines.all.length ? end - 1 : end);
    return end < lines.all.length;
  }

  /** To the next hit, or the previous one, around the end; null without hits. */
  step(by: 1 | -1): number | null {
    if (!this.hits.length) return null;
    const from = this.chosen < 0 && by < 0 ? 0 : this.chosen;
    this.chosen = (from + by + this.hits.length) % this.hits.length;
    return this.hits[this.chosen]!;
  }

  private put(line: number): void {
    if (this.hits.at(-1) !== line) this.hits.push(line);
  }

  private forget(dropped: number): void {
    const gone = this.hits.findIndex((it) => it >= dropped);
    const count = gone < 0 ? this.hits.length : gone;
    if (!count) return;
    this.hits.splice(0, count);
    this.chosen = Math.max(-1, this.chosen - count);
  }
}

export interface MarkedRun {
  text: string;
  look: string;
  isHit: boolean;
}

/** The runs of a line, cut where a hit begins and ends. */
export function marked(runs: readonly { text: string; look: string }[], query: string): MarkedRun[] {
  if (!query) return runs.map((run) => ({ ...run, isHit: false }));
  const whole = runs
    .map(({ text }) => text)
    .join("")
    .toLowerCase();
  const wanted = query.toLowerCase();
  const cuts: [number, number][] = [];
  for (let at = whole.indexOf(wanted); at >= 0; at = whole.indexOf(wanted, at + wanted.length))
    cuts.push([at, at + wanted.length]);
  const found: MarkedRun[] = [];
  let from = 0;
  for (const { text, look } of runs) {
    let begin = from;
    const end = from + text.length;
    const put = (upto: number, isHit: boolean) => {
      if (upto > begin) found.push({ text: text.slice(begin - from, upto - from), look, isHit });
      begin = Math.max(begin, upto);
    };
    for (const [first, last] of cuts) {
      if (last <= begin || first >= end) continue;
      put(Math.max(begin, first), false);
      put(Math.min(end, last), true);
    }
    put(end, false);
    from = end;
  }
  return found;
}
