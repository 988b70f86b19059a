/** What a program printed, as lines: it comes in pieces that end anywhere, each of one category. */
import { ansiRuns } from "../../parts/ansi";

const KEPT = 100_000;
const SPARE = 20_000; // dropped at once, so that a long output is not copied at every piece
/** A very long line is shown as several lines, so that neither memory nor a row is unbounded. */
const WIDEST = 2000;

export interface OutputLine {
  text: string;
  /** As the debug adapter names it: stdout, stderr, console … */
  category: string;
  /** The colours that an earlier line left on. */
  look: string;
}

export class OutputLines {
  all: OutputLine[] = [];
  cursor = 0;
  /** How many lines before these are no longer kept, so that a line keeps its number. */
  dropped = 0;
  private isOpen = false;
  /** What is on after the last whole line, by category: each has colours of its own. */
  private readonly looks = new Map<string, Set<string>>();

  add(text: string, category = "stdout"): void {
    if (!text) return;
    const pieces = text.split("\n");
    const last = this.all.at(-1);
    if (this.isOpen && last?.category === category) pieces[0] = this.all.pop()!.text + pieces[0]!;
    for (const [index, piece] of pieces.entries()) {
      const isWhole = index < pieces.length - 1;
      if (isWhole || piece) this.put(piece, category, isWhole);
    }
    this.isOpen = pieces.at(-1) !== "";
    if (this.all.length <= KEPT + SPARE) return;
    const surplus = this.all.length - KEPT;
    this.all.splice(0, surplus);
    this.dropped += surplus;
  }

  private put(line: string, category: string, isWhole: boolean): void {
    let look = this.looks.get(category);
    if (!look) this.looks.set(category, (look = new Set()));
    const shown = [...look].join(" ");
    for (let from = 0; from === 0 || from < line.length; from += WIDEST)
      this.all.push({ text: line.slice(from, from + WIDEST), category, look: shown });
    // A line that is not whole yet is put once more, with its rest.
    if (isWhole && line.includes("\x1b")) ansiRuns(line, look);
  }

  /** The lines go; what comes later is shown after them. */
  clear(): void {
    this.dropped += this.all.length;
    this.all = [];
    this.isOpen = false;
  }

  /** Of another session. */
  reset(): void {
    this.clear();
    this.looks.clear();
    this.dropped = 0;
    this.cursor = 0;
  }
}

/** What can be read of a line: without colours, and of a line that was written over its last state. */
export function visibleText({ text }: OutputLine): string {
  const shown = lastState(text);
  if (!/[\x00-\x08\x0b-\x1f\x7f]/.test(shown)) return shown;
  return ansiRuns(shown, new Set())
    .map((run) => run.text)
    .join("");
}

/** A progress bar returns to the beginning of its line. */
export function lastState(text: string): string {
  const shown = text.replace(/\r+$/, "");
  return shown.slice(shown.lastIndexOf("\r") + 1);
}
