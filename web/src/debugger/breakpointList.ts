/** Breakpoints of the folder, and the actions of clicks beside lines. */
import type { Breakpoint } from "./toolResults";
import type { SourceFile } from "./sourceFile";

/** Calls a tool and reads the result of its change. */
type RunTool = (tool: string, args: Record<string, unknown>) => Promise<void>;

export class BreakpointList {
  all: Breakpoint[] = [];
  /** Resolves when every click so far has taken effect. */
  settled: Promise<void> = Promise.resolve();

  constructor(
    private readonly runTool: RunTool,
    private readonly changed: () => void,
  ) {}

  at(text: SourceFile, line: number): Breakpoint | undefined {
    return this.all.find(
      (it) => text.is(it.source?.path ?? "", text.workspace) && (it.actual_line ?? it.line) === line,
    );
  }

  /** Shown at once; of several clicks on a line the last one counts. */
  toggle(text: SourceFile, line: number): void {
    text.pendingToggles.set(line, !(text.pendingToggles.get(line) ?? this.at(text, line) !== undefined));
    this.settled = this.settled.then(() => this.apply(text, line));
    this.changed();
  }

  remove(id: number): Promise<void> {
    return this.runTool("remove_breakpoint", { breakpoint_id: id });
  }

  private async apply(text: SourceFile, line: number): Promise<void> {
    const wanted = text.pendingToggles.get(line);
    const existing = this.at(text, line);
    if (wanted === true && !existing) await this.runTool("set_breakpoint", { file_path: text.path, line_number: line });
    if (wanted === false && existing) await this.remove(existing.id);
    if (text.pendingToggles.get(line) === wanted) text.pendingToggles.delete(line);
    this.changed();
  }
}
