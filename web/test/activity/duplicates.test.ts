import { expect, test } from "vitest";
import { withoutDuplicateFailures } from "../../src/activity/duplicates";

const row = (sequence: number, kind: string, line: string, session = "t") => ({
  sequence,
  at_ns: 0,
  event: { kind: `terminal.${kind}`, session, body: { line, exit_code: 2 } },
});
const sequences = (rows: ReturnType<typeof row>[]) => withoutDuplicateFailures(rows).map(({ sequence }) => sequence);

test("a failed command is shown once: as it ended", () => {
  expect(sequences([row(2, "command_failed", "make"), row(1, "command_ended", "make")])).toEqual([1]);
});

test("a failure without its end, of another command or of another terminal stays", () => {
  expect(sequences([row(1, "command_failed", "make")])).toEqual([1]);
  expect(sequences([row(2, "command_failed", "make b"), row(1, "command_ended", "make")])).toEqual([2, 1]);
  expect(sequences([row(2, "command_failed", "make", "u"), row(1, "command_ended", "make")])).toEqual([2, 1]);
});
