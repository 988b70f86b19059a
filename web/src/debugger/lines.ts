/** What a program printed, as lines: it comes in pieces that end anywhere. */

const KEPT = 100_000;

export class Lines {
  all: string[] = [];
  cursor = 0;
  private isOpen = false;

  add(text: string): void {
    if (!text) return;
    const pieces = text.split("\n");
    const first = pieces.shift() ?? "";
    const begun = this.isOpen ? (this.all.pop() ?? "") + first : first;
    const next = [...this.all, begun, ...pieces];
    this.isOpen = next.at(-1) !== "";
    if (!this.isOpen) next.pop();
    this.all = next.slice(-KEPT);
  }

  clear(): void {
    this.all = [];
    this.cursor = 0;
    this.isOpen = false;
  }
}
