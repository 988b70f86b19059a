/** What a program printed, as lines: it comes in pieces that end anywhere. */

const KEPT = 100_000;
const SPARE = 20_000; // dropped at once, so that a long output is not copied at every piece
/** A very long line is shown as several lines, so that neither memory nor a row is unbounded. */
const WIDEST = 2000;

export class OutputLines {
  all: string[] = [];
  cursor = 0;
  private isOpen = false;

  add(text: string): void {
    if (!text) return;
    const pieces = text.split("\n");
    if (this.isOpen) pieces[0] = (this.all.pop() ?? "") + pieces[0]!;
    for (const piece of pieces) this.put(piece);
    this.isOpen = pieces.at(-1) !== "";
    if (!this.isOpen) this.all.pop();
    if (this.all.length > KEPT + SPARE) this.all.splice(0, this.all.length - KEPT);
  }

  private put(line: string): void {
    for (let from = 0; from === 0 || from < line.length; from += WIDEST) this.all.push(line.slice(from, from + WIDEST));
  }

  clear(): void {
    this.all = [];
    this.cursor = 0;
    this.isOpen = false;
  }
}
