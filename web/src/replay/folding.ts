/** Repeats in a timeline as one row: what one actor did many times over, with the stops that each time led to. */
import { t } from "../link";
import { entryKey, entryText, outputEntry, type TimelineEntry } from "./timelineEntries";

export interface Fold {
  key: string;
  entries: readonly TimelineEntry[];
  /** How often it was done. */
  count: number;
  text: string;
}

/** One row of the list: an entry, or a fold that stands for several. */
export interface TimelineRow {
  key: number | string;
  entry: TimelineEntry;
  fold: Fold | null;
  /** Inside of a fold that is open. */
  isInside: boolean;
}

/** What is done at once, and what it led to: a step with its stop. */
interface Unit {
  entries: TimelineEntry[];
  /** Units with the same signature are repeats; empty for one that never is. */
  signature: string;
}

const LEAST = 4;
const REPEATED = new Set(["run", "evaluation", "breakpoint", "change", "trace"]);

/** The phrases that count; what has none of its own is counted at its end. */
const COUNTED: Record<string, string> = {
  "stepped over": "stepped over {count} times",
  "stepped into": "stepped into {count} times",
  "stepped out": "stepped out {count} times",
  "continued": "continued {count} times",
  "set a breakpoint": "set {count} breakpoints",
  "changed a breakpoint": "changed {count} breakpoints",
  "removed a breakpoint": "removed {count} breakpoints",
};

export function fold(entries: readonly TimelineEntry[]): (TimelineEntry | Fold)[] {
  const units = unitsOf(withJoinedOutput(entries));
  const rows: (TimelineEntry | Fold)[] = [];
  for (let from = 0; from < units.length;) {
    const { signature } = units[from]!;
    let end = from + 1;
    while (signature && end < units.length && units[end]!.signature === signature) end++;
    const members = units.slice(from, end).flatMap((it) => it.entries);
    if (end - from >= LEAST) rows.push(foldOf(members, end - from));
    else rows.push(...members);
    from = end;
  }
  return rows;
}

/** The rows of a list, the newest first; folds in `open` with what they stand for. */
export function rowsOf(folded: readonly (TimelineEntry | Fold)[], open: ReadonlySet<string>): TimelineRow[] {
  const rows: TimelineRow[] = [];
  for (const it of folded.toReversed()) {
    if (!("entries" in it)) {
      rows.push({ key: entryKey(it), entry: it, fold: null, isInside: false });
      continue;
    }
    rows.push({ key: it.key, entry: it.entries.at(-1)!, fold: it, isInside: false });
    if (open.has(it.key))
      for (const entry of it.entries.toReversed())
        rows.push({ key: entryKey(entry), entry, fold: null, isInside: true });
  }
  return rows;
}

/** Output comes in pieces that mean nothing: what was printed in one go is one entry. */
function withJoinedOutput(entries: readonly TimelineEntry[]): TimelineEntry[] {
  const joined: TimelineEntry[] = [];
  for (let from = 0; from < entries.length;) {
    let end = from + 1;
    if (entries[from]!.kind === "output") while (entries[end]?.kind === "output") end++;
    const last = entries[end - 1]!;
    const words = () => entries.slice(from, end).map((it) => it.detail);
    joined.push(end - from > 1 ? outputEntry(last.session, last.at, last.printed, words().join("")) : last);
    from = end;
  }
  return joined;
}

function unitsOf(entries: readonly TimelineEntry[]): Unit[] {
  const units: Unit[] = [];
  for (const entry of entries) {
    const last = units.at(-1);
    const isConsequence = entry.kind === "output" || (entry.kind === "stop" && !entry.isBad);
    if (last?.signature.startsWith("run") && isConsequence) last.entries.push(entry);
    else units.push({ entries: [entry], signature: signatureOf(entry) });
  }
  return units;
}

/** Different expressions are evaluated, and the same command is given again. */
function signatureOf({ kind, actor, text }: TimelineEntry): string {
  if (!REPEATED.has(kind)) return "";
  return [kind, actor, kind === "evaluation" || kind === "change" || kind === "trace" ? "" : text].join("\u0000");
}

function foldOf(entries: TimelineEntry[], count: number): Fold {
  const first = entries[0]!;
  return { key: `fold ${entryKey(first)}`, entries, count, text: foldText(first, count) };
}

function foldText(first: TimelineEntry, count: number): string {
  const said = Object.keys(COUNTED).find((english) => t(english) === first.text);
  if (said) return entryText({ ...first, text: t(COUNTED[said]!, { count }) });
  if (first.kind === "evaluation") return entryText({ ...first, text: t("evaluated {count} expressions", { count }) });
  return t("{text} ({count} times)", { text: entryText(first), count });
}
