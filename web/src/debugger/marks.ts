/** Breakpoints of the folder, and what clicks beside lines wish of them. */
import type { Breakpoint } from "./answers";
import type { Text } from "./text";

/** Does a tool's work and reads anew what came of it. */
type Wish = (tool: string, args: Record<string, unknown>) => Promise<void>;

export class Marks {
  all: Breakpoint[] = [];
  /** Over when all that was clicked so far is so. */
  settled: Promise<void> = Promise.resolve();

  constructor(
    private readonly wish: Wish,
    private readonly changed: () => void,
  ) {}

  at(text: Text, line: number): Breakpoint | undefined {
    return this.all.find((it) => text.is(it.source?.path ?? "", text.workspace) && (it.actual_line ?? it.line) === line);
  }

  /** Shown at once; of several clicks on a line the last one counts. */
  toggle(text: Text, line: number): void {
    text.wishes.set(line, !(text.wishes.get(line) ?? this.at(text, line) !== undefined));
    this.settled = this.settled.then(() => this.fulfil(text, line));
    this.changed();
  }

  remove(id: number): Promise<void> {
    return this.wish("remove_breakpoint", { breakpoint_id: id });
  }

  private async fulfil(text: Text, line: number): Promise<void> {
    const wanted = text.wishes.get(line);
    const there = this.at(text, line);
    if (wanted === true && !there) await this.wish("set_breakpoint", { file_path: text.path, line_number: line });
    if (wanted === false && there) await this.remove(there.id);
    if (text.wishes.get(line) === wanted) text.wishes.delete(line);
    this.changed();
  }
}
