/** A trace as a table: each row whole, what changed in it, and each column as a series of numbers. */
import type { RawTraceRow, TracePoint } from "./toolResults";

export interface Cell {
  text: string;
  /** Differs from the row before of the same point. */
  changed: boolean;
  /** In the first row of its point. */
  isFirst: boolean;
  /** The expression could not be evaluated. */
  failed: boolean;
}

export interface TableRow {
  hit: number;
  /** From 0. */
  point: number;
  thread: number;
  /** Null where the row's point does not have the column's expression. */
  cells: (Cell | null)[];
}

export interface Column {
  expression: string;
  /** Of the rows whose point has the column. Null where there is no number, and as a whole if there is at most one. */
  series: (number | null)[] | null;
  /** The first row with another value than the first one; -1 if all are alike. */
  firstChange: number;
}

export interface TraceTable {
  columns: Column[];
  rows: TableRow[];
}

/** What a debugger says of a name that does not exist yet. */
const UNSET = "not set";

export function traceTable(points: readonly TracePoint[], raw: readonly RawTraceRow[]): TraceTable {
  const expressions = [...new Set(points.flatMap((it) => it.expressions))];
  const known: Map<string, Cell>[] = points.map(() => new Map<string, Cell>());
  const rows = raw.map(({ hit, point = 1, thread = 1, values = {}, errors = {} }) => {
    const at = known[point - 1]!;
    const cells = expressions.map((it) => {
      if (!points[point - 1]!.expressions.includes(it)) return null;
      const text = values[it] ?? errors[it];
      const before = at.get(it);
      const cell =
        text === undefined
          ? { ...(before ?? { text: "", failed: false }), changed: false, isFirst: before === undefined }
          : {
              text,
              failed: it in errors,
              changed: before !== undefined && before.text !== text,
              isFirst: before === undefined,
            };
      at.set(it, cell);
      return cell;
    });
    return { hit, point: point - 1, thread, cells };
  });
  const columns = expressions.map((expression, index) => ({
    expression,
    series: seriesOf(rows.flatMap(({ cells }) => cells[index] ?? [])),
    firstChange: rows.findIndex(({ cells }) => cells[index]?.changed),
  }));
  return { columns, rows };
}

export function isUnset({ text, failed }: Cell): boolean {
  return failed && text.includes(UNSET);
}

const WORDS: Record<string, number> = { True: 1, False: 0, true: 1, false: 0 };

/** The number that a value is written as; booleans count as 0 and 1. */
export function numberOf(text: string): number | null {
  const plain = text.trim();
  if (Object.hasOwn(WORDS, plain)) return WORDS[plain]!;
  if (!/^[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(plain)) return null;
  return Number(plain.replaceAll("_", ""));
}

function seriesOf(cells: readonly Cell[]): (number | null)[] | null {
  const numbers = cells.map((it) => (it.failed ? null : numberOf(it.text)));
  return numbers.filter((it) => it !== null).length > 1 ? numbers : null;
}

export interface Order {
  /** A column; -1: the order in which the rows were recorded. */
  column: number;
  isDescending: boolean;
}

/** The rows in which some value contains the text, in the order of a column: numbers by size, anything else as text. */
export function arranged(table: TraceTable, filter: string, order: Order, onlyChanged: boolean): TableRow[] {
  const words = filter.toLowerCase();
  const rows = table.rows.filter(
    ({ cells }) =>
      (!words || cells.some((it) => it?.text.toLowerCase().includes(words))) &&
      (!onlyChanged || cells.some((it) => it?.changed)),
  );
  const sign = order.isDescending ? -1 : 1;
  if (order.column < 0) return order.isDescending ? rows.reverse() : rows;
  return rows.sort((a, b) => sign * compared(a.cells[order.column], b.cells[order.column]) || a.hit - b.hit);
}

function compared(one: Cell | null | undefined, other: Cell | null | undefined): number {
  const [a, b] = [one?.text ?? "", other?.text ?? ""];
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x !== null && y !== null) return x - y;
  if ((x === null) !== (y === null)) return x === null ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The points of a line in a box of the given size, with gaps where there is no number. At most two per pixel. */
export function sparkline(series: readonly (number | null)[], width: number, height: number): string {
  const numbers = series.filter((it) => it !== null);
  const [low, high] = numbers.reduce(([a, b], it) => [Math.min(a, it), Math.max(b, it)], [Infinity, -Infinity]);
  const span = high - low || 1;
  const step = Math.max(1, Math.floor(series.length / (2 * width)));
  const last = Math.max(1, series.length - 1);
  let path = "";
  let isDown = false;
  for (let at = 0; at < series.length; at += step) {
    const value = series[at];
    if (value === null || value === undefined) isDown = false;
    else {
      const x = (at / last) * width;
      const y = high === low ? height / 2 : height - ((value - low) / span) * height;
      path += `${isDown ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
      isDown = true;
    }
  }
  return path;
}
