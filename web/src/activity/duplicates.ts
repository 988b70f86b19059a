import type { FeedRow } from "../link";

const ENDED = "terminal.command_ended";
const FAILED = "terminal.command_failed";

/** Newest first. A failed command has two events, its end and its failure: the row of the end shows both. */
export function withoutDuplicateFailures(rows: FeedRow[]): FeedRow[] {
  const ended = new Map<string, string>();
  const isNew = ({ event: { kind, session = "", body } }: FeedRow): boolean => {
    if (kind !== ENDED && kind !== FAILED) return true;
    const what = `${Number(body?.["exit_code"])} ${String(body?.["line"])}`;
    if (kind === ENDED) ended.set(session, what);
    return kind === ENDED || ended.get(session) !== what;
  };
  return rows.toReversed().filter(isNew).reverse();
}
