import type { Row } from "../link";

/** Newest first. A command that failed has ended, and is noticed besides: the row of its end says both. */
export function once(rows: Row[]): Row[] {
  const ended = new Map<string, string>();
  const kept = rows.toReversed().filter(({ event }) => {
    const [terminal, what] = [event.session ?? "", `${Number(event.body?.["exit_code"])} ${String(event.body?.["line"])}`];
    if (event.kind === "terminal.command_ended") ended.set(terminal, what);
    return event.kind !== "terminal.command_failed" || ended.get(terminal) !== what;
  });
  return kept.reverse();
}
