/** Breakpoints of the folder, and what a person does with them: clicks beside lines, and the form of one of them. */
import type { ToolResult } from "../link";
import type { Breakpoint, ErrorNotice } from "../debugger/toolResults";
import { errorNotice, toolErrorNotice } from "../debugger/tools";
import type { SourceFile } from "../source/sourceFile";

/** Calls a tool and reads the result of its change. */
type RunTool = (tool: string, args: Record<string, unknown>) => Promise<void>;
/** Calls a tool for a form, which shows by itself what was refused. */
type CallTool = (tool: string, args: Record<string, unknown>) => Promise<ToolResult>;

export interface BreakpointSettings {
  condition: string;
  hit_condition: string;
  log_message: string;
}

/** Of what is not on a line. */
export type NewBreakpoint =
  | { kind: "function"; function_name: string }
  | { kind: "exception"; exception: string; condition?: string; enabled?: boolean };

/** The owner of what this page sets. */
const OWN = "page";
/** What can be set for each kind. What data breakpoints watch is known by a number that their stop has taken along. */
const SETTINGS: Record<string, readonly (keyof BreakpointSettings)[]> = {
  line: ["condition", "hit_condition", "log_message"],
  function: ["condition", "hit_condition"],
  exception: ["condition"],
};

export function settingsOf(kind: string): readonly (keyof BreakpointSettings)[] {
  return SETTINGS[kind] ?? [];
}

export class BreakpointList {
  all: Breakpoint[] = [];
  /** Of breakpoints by their id, and of kinds of exceptions. */
  private readonly pendingSwitches = new Map<number | string, boolean>();
  /** Resolves when every click so far has taken effect. */
  settled: Promise<void> = Promise.resolve();

  constructor(
    private readonly runTool: RunTool,
    private readonly changed: () => void,
    private readonly callTool: CallTool,
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
    return this.switching(id, enabled, () => this.runTool("set_breakpoint", { breakpoint_id: id, enabled }));
  }

  isOn(it: Breakpoint): boolean {
    return this.pendingSwitches.get(it.id) ?? it.enabled;
  }

  /** Shown at once, as clicks beside lines are. */
  private async switching(key: number | string, isOn: boolean, apply: () => Promise<void>): Promise<void> {
    this.pendingSwitches.set(key, isOn);
    this.changed();
    try {
      await apply();
    } finally {
      this.pendingSwitches.delete(key);
      this.changed();
    }
  }

  /** Like all that follow: the error if the daemon refused it, else null. */
  add(wanted: NewBreakpoint): Promise<ErrorNotice | null> {
    return this.submit({ ...wanted });
  }

  /** On a line of a file: the same place by the same owner is the same breakpoint. */
  set(text: SourceFile, line: number, settings: BreakpointSettings): Promise<ErrorNotice | null> {
    return this.submit({ file_path: text.path, line_number: line, ...settings });
  }

  change(it: Breakpoint, settings: BreakpointSettings): Promise<ErrorNotice | null> {
    const chosen = Object.fromEntries(settingsOf(it.kind).map((name) => [name, settings[name]]));
    return this.submit({ ...placeOf(it), ...chosen, enabled: it.enabled });
  }

  /** In place of another's, which only its owner can change: with the same settings, owned by this person. */
  async takeOver(it: Breakpoint, settings: BreakpointSettings): Promise<ErrorNotice | null> {
    const refused = await this.change(it, settings);
    if (!refused) await this.remove(it.id);
    return refused;
  }

  /** Whether the program stops at exceptions of a kind: at uncaught ones it does unless somebody turned that off. */
  stopsAt(kind: "uncaught" | "raised"): boolean {
    const pending = this.pendingSwitches.get(kind);
    if (pending !== undefined) return pending;
    const of = this.plainExceptions(kind);
    return kind === "uncaught" ? !of.length || of.some(({ enabled }) => enabled) : of.some(({ enabled }) => enabled);
  }

  stopAt(kind: "uncaught" | "raised", wanted: boolean): Promise<void> {
    return this.switching(kind, wanted, async () => {
      for (const { id } of this.plainExceptions(kind)) await this.remove(id);
      if (wanted !== (kind === "uncaught"))
        await this.runTool("set_breakpoint", { kind: "exception", exception: kind, enabled: wanted });
    });
  }

  /** Those that a switch stands for, instead of a row of their own. */
  plainExceptions(kind: "uncaught" | "raised"): Breakpoint[] {
    return this.all.filter((it) => it.kind === "exception" && it.exception === kind && !it.condition);
  }

  private async submit(args: Record<string, unknown>): Promise<ErrorNotice | null> {
    try {
      const { data, text, is_error } = await this.callTool("set_breakpoint", args);
      return is_error ? toolErrorNotice(data, text) : null;
    } catch (error) {
      return errorNotice(error);
    }
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
  const column = it.column ? { column_number: it.column } : {};
  return { file_path: it.source?.path, line_number: it.line, ...column };
}
