/** One recorded call of a function: its source, and what each executed line changed and called. */

/** A name and its value. */
export type Pair = readonly [string, string];
/** Function, arguments, result, error, number of yielded values, and where the function is. */
export type RawCall = readonly [string, Pair[], string | null, string, number, string?, number?];

export interface StepRow {
  line: number;
  changes: Pair[];
  calls: RawCall[];
  more_calls: number;
  yielded?: string[];
  /** The exception that passed through this line. */
  note?: string;
}

/** Steps that were not kept. */
export interface GapRow {
  gap: number;
  lines: [number, number];
  changes: Pair[];
  calls: number;
}

export interface CallRecord {
  function: string;
  file: string;
  first: number;
  source: [number, string][];
  args: Pair[];
  outer?: Pair[];
  rows: (StepRow | GapRow)[];
  end: { how: string; line: number; value?: string; error?: string; values?: Pair[] };
  call: number;
  calls?: number;
  lines: number;
  has_passed?: boolean;
}

export interface Change {
  name: string;
  value: string;
  /** Before this line; absent for a new name. */
  old?: string;
  isAppended: boolean;
}

/** An executed line, with what it changed compared with before. */
export interface Step {
  row: StepRow;
  changes: Change[];
}

export interface LoopRun {
  /** The line of `for` or `while`. */
  head: number;
  passes: Pass[];
}

/** One time through a loop. */
export interface Pass {
  items: Item[];
  /** Passes in the middle were not kept. */
  gap: GapRow | null;
}

type Item = Step | LoopRun;

export interface Loop {
  head: number;
  last: number;
}

/** What is drawn for the chosen passes: the steps of each line, and the loops that have several passes. */
export interface ShownCall {
  steps: Map<number, Step[]>;
  gaps: Map<number, GapRow>;
  loops: Map<number, { passes: number; chosen: number; isGap: boolean }>;
}

const LOOP = /^\s*(?:async )?(?:for|while|repeat|loop|do|until)\b/;
/** The object of a method is known from its caller. */
const OWN_OBJECT = new Set(["self", "cls", "this"]);

export function callText(call: RawCall): string {
  const [name, args, result, error, yields] = call;
  const text = `${name}(${argumentText(args)})`;
  if (error) return `${text} ✗ ${error}`;
  if (result === null || name.endsWith("__init__")) return text;
  return yields ? `${text} → ${yields} × … ${result}` : `${text} → ${result}`;
}

export function argumentText(args: readonly Pair[]): string {
  const shown = args.length && OWN_OBJECT.has(args[0]![0]) ? args.slice(1) : args;
  return shown.map(([name, value]) => (value ? `${name}=${value}` : name)).join(", ");
}

/** The loops of a function, by their indentation. */
export function loopsOf(source: readonly (readonly [number, string])[]): Loop[] {
  return source.flatMap(([head, text], at) => {
    if (!LOOP.test(text)) return [];
    let last = head;
    for (const [number, line] of source.slice(at + 1)) {
      if (line.trim() && indentation(line) <= indentation(text)) break;
      if (line.trim()) last = number;
    }
    return last > head ? [{ head, last }] : [];
  });
}

function indentation(line: string): number {
  return line.length - line.trimStart().length;
}

/** The steps in order, each pass through a loop by itself. */
export function nested(record: CallRecord): Item[] {
  const loops = loopsOf(record.source);
  const known = new Map<string, string>([...record.args, ...(record.outer ?? [])]);
  const items: Item[] = [];
  const open: { loop: Loop; run: LoopRun }[] = [];
  const inside = () => open.at(-1)?.run.passes.at(-1)?.items ?? items;
  for (const row of record.rows) {
    if ("gap" in row) {
      const [low, high] = row.lines;
      while (open.length && (low < open.at(-1)!.loop.head || high > open.at(-1)!.loop.last)) open.pop();
      open.at(-1)?.run.passes.push({ items: [], gap: row });
      for (const [name, value] of row.changes) known.set(name, value);
      continue;
    }
    while (open.length && (row.line < open.at(-1)!.loop.head || row.line > open.at(-1)!.loop.last)) open.pop();
    const loop = loops.find(({ head }) => head === row.line);
    if (loop && open.at(-1)?.loop !== loop) {
      const run: LoopRun = { head: loop.head, passes: [] };
      inside().push(run);
      open.push({ loop, run });
    }
    if (loop) open.at(-1)!.run.passes.push({ items: [], gap: null });
    inside().push({ row, changes: changesOf(row, known) });
  }
  for (const { passes } of runsIn(items)) if (passes.length > 1 && isExit(passes.at(-1)!)) passes.pop();
  return items;
}

function* runsIn(items: readonly Item[]): Generator<LoopRun> {
  for (const item of items)
    if ("head" in item) {
      yield item;
      for (const { items: inner } of item.passes) yield* runsIn(inner);
    }
}

/** The loop asked once more, and there was nothing left. */
function isExit({ items, gap }: Pass): boolean {
  const [first, ...rest] = items;
  return !gap && !rest.length && first !== undefined && "row" in first && !first.changes.length && !first.row.note;
}

function changesOf(row: StepRow, known: Map<string, string>): Change[] {
  return row.changes
    .filter(([path]) => path !== "_")
    .map(([path, value]) => {
      const isAppended = path.endsWith(" +");
      const name = isAppended ? path.slice(0, -2) : path;
      const old = known.get(name);
      if (!isAppended) known.set(name, value);
      return { name, value, isAppended, ...(old === undefined || isAppended ? {} : { old }) };
    });
}

/** The pass of each loop that is chosen by its head; without a choice, the last one if the call failed there. */
export function shownCall(items: readonly Item[], chosen: ReadonlyMap<number, number>, ofEnd: boolean): ShownCall {
  const shown: ShownCall = { steps: new Map(), gaps: new Map(), loops: new Map() };
  const walk = (them: readonly Item[]): void => {
    for (const item of them)
      if ("row" in item) shown.steps.set(item.row.line, [...(shown.steps.get(item.row.line) ?? []), item]);
      else {
        const { passes, head } = item;
        if (!passes.length) continue;
        const at = Math.min(chosen.get(head) ?? (ofEnd ? passes.length - 1 : 0), passes.length - 1);
        const pass = passes[at]!;
        shown.loops.set(head, { passes: passes.length, chosen: at, isGap: pass.gap !== null });
        if (pass.gap) shown.gaps.set(head, pass.gap);
        walk(pass.items);
      }
  };
  walk(items);
  return shown;
}
