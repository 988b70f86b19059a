/** Breakpoints of the folder, and what a person does with them: clicks beside lines, and the form of one of them. */
import type { Breakpoint } from "../debugger/toolResults";
import type { SourceFile } from "../source/sourceFile";

/** Calls a tool and reads the result of its change. */
type RunTool = (tool: string, args: Record<string, unknown>) => Promise<void>;

export interface BreakpointSettings {
  condition: string;
  hit_condition: string;
  log_message: string;
}

/** Of what is not on a line: the same settings by the same tool, named otherwise. */
export type NewBreakpoint =
  | { kind: "function"; function_name: string; condition?: string }
  | { kind: "exception"; exception: string; condition?: string };

/** The owner of what this page sets. */
const OWN = "page";

export class BreakpointList {
  all: Breakpoint[] = [];
  /** Resolves when every click so far has taken effect. */
  settled: Promise<void> = Promise.resolve();

  constructor(
    private readonly runTool: RunTool,
    private readonly changed: () => void,
  ) {}

  /** The person's own ones first. */
  allAt(text: SourceFile, line: number): Breakpoint[] {
    return this.all
      .filter((it) => text.is(it.source?.path ?? "", text.workspace) && (it.actual_line ?? it.line) === line)
      .sort((one, other) => Number(isOwn(other)) - Number(isOwn(one)));
  }

  at(text: SourceFile, line: number): Breakpoint | undefined {
    return this.allAt(text, line)[0];
  }

  /** The lines of a file that have any, with those that were just clicked. */
  linesOf(text: SourceFile): number[] {
    const here = this.all.filter(({ source }) => text.is(source?.path ?? "", text.workspace));
    const lines = here.map(({ actual_line, line }) => actual_line ?? line ?? 0);
    return [...new Set([...lines, ...text.pendingToggles.keys()])].sort((one, other) => one - other);
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

  removeAll(): Promise<void> {
    return this.runTool("remove_breakpoint", { clear_all: true });
  }

  turn(id: number, enabled: boolean): Promise<void> {
    return this.runTool("set_breakpoint", { breakpoint_id: id, enabled });
  }

  add(wanted: NewBreakpoint): Promise<void> {
    return this.runTool("set_breakpoint", { ...wanted });
  }

  /** One on a line of a file, new or this person's own: the same place by the same owner is the same breakpoint. */
  set(text: SourceFile, line: number, settings: BreakpointSettings, enabled = true): Promise<void> {
    return this.runTool("set_breakpoint", { file_path: text.path, line_number: line, ...settings, enabled });
  }

  async change(it: Breakpoint, settings: BreakpointSettings): Promise<void> {
    const { condition, hit_condition } = settings;
    if (it.kind === "line") return this.runTool("set_breakpoint", { ...placeOf(it), ...settings, enabled: it.enabled });
    const hits = it.kind === "exception" ? {} : { hit_condition };
    return this.runTool("set_breakpoint", { ...placeOf(it), condition, ...hits, enabled: it.enabled });
  }

  /** In place of another's, who alone can change it: with the same settings, owned by this person. */
  async takeOver(it: Breakpoint): Promise<void> {
    const { condition = "", hit_condition = "", log_message = "" } = it;
    await this.remove(it.id);
    await this.change(it, { condition, hit_condition, log_message });
  }

  private async apply(text: SourceFile, line: number): Promise<void> {
    const wanted = text.pendingToggles.get(line);
    const existing = this.allAt(text, line);
    if (wanted === true && !existing.length)
      await this.runTool("set_breakpoint", { file_path: text.path, line_number: line });
    if (wanted === false) for (const it of existing) await this.remove(it.id);
    if (text.pendingToggles.get(line) === wanted) text.pendingToggles.delete(line);
    this.changed();
  }
}

/** Whether this page may change its conditions. Anybody may turn a breakpoint on and off or remove it. */
export function isOwn({ owner }: Breakpoint): boolean {
  return owner === OWN;
}

function placeOf(it: Breakpoint): Record<string, unknown> {
  if (it.kind === "function") return { kind: it.kind, function_name: it.function_name };
  if (it.kind === "exception") return { kind: it.kind, exception: it.exception };
  if (it.kind === "data") return { kind: it.kind, variable: it.variable, access: it.access, session_id: it.session_id };
  const column = it.column ? { column_number: it.column } : {};
  return { file_path: it.source?.path, line_number: it.line, ...column };
}
