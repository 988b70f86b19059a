/** What a session printed, and when: the output of a moment is its beginning. */
import { request } from "../link";
import { OutputLines, type OutputLine } from "../debugger/output/outputLines";
import { firstAfter } from "./timeScale";
import { outputEntry, type TimelineEntry } from "./timelineEntries";

export interface OutputRecord {
  text: string;
  /** The characters before the text. */
  start: number;
  /** By then everything before that position had been printed. */
  marks: [at_ns: number, end: number][];
}

export class TimedOutput {
  /** Where reading goes on: the daemon counts characters, a string of ours counts some of them twice. */
  end = 0;
  private text = "";
  private readonly times: number[] = [];
  /** Positions in the text. */
  private readonly ends: number[] = [];
  private shown: { end: number; lines: OutputLine[] } = { end: -1, lines: [] };

  get isEmpty(): boolean {
    return !this.text;
  }

  add({ text, start, marks }: OutputRecord): void {
    if (start > this.end) this.clear(); // what lay between is no longer kept
    const base = this.text.length;
    const wide = /[\ud800-\udfff]/.test(text) ? [...text] : null;
    const within = (position: number) => {
      const count = Math.max(0, Math.min(position - start, wide?.length ?? text.length));
      return base + (wide ? wide.slice(0, count).join("").length : count);
    };
    for (const [at, end] of marks) {
      this.times.push(at / 1e6);
      this.ends.push(within(end));
    }
    this.text += text;
    this.end = start + (wide?.length ?? text.length);
    this.shown = { end: -1, lines: [] };
  }

  clear(): void {
    [this.text, this.end] = ["", 0];
    this.times.length = this.ends.length = 0;
    this.shown = { end: -1, lines: [] };
  }

  /** The lines that had been printed by a time. */
  linesAt(at: number): OutputLine[] {
    const known = firstAfter(this.times, at);
    const end = known ? this.ends[known - 1]! : 0;
    if (this.shown.end !== end) {
      const lines = new OutputLines();
      lines.add(this.text.slice(0, end));
      this.shown = { end, lines: lines.all };
    }
    return this.shown.lines;
  }

  entries(session: string): TimelineEntry[] {
    let from = 0;
    return this.ends.flatMap((end, index) => {
      const words = this.text.slice(from, end);
      from = Math.max(from, end);
      return words.trim() ? [outputEntry(session, this.times[index]!, end, words)] : [];
    });
  }
}

export function fetchOutput(session: string, after: number): Promise<OutputRecord> {
  return request<OutputRecord>(`/api/replay/output?session=${encodeURIComponent(session)}&after=${after}`);
}
