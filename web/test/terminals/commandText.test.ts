import { expect, test } from "vitest";
import { commandDuration, exitClass, exitMark, exitText } from "../../src/terminals/commandText";
import type { Command } from "../../src/terminals/toolResults";

const command = (exit_code: number | null, duration_s: number | null) => ({ exit_code, duration_s }) as Command;

test.each([
  [command(0, 1), "good", "✓", "exit code 0"],
  [command(2, 1), "bad", "2", "exit code 2"],
  [command(148, 1), "quiet", "148", "exit code 148"],
  [command(null, 1), "quiet", "?", "exit code unknown"],
  [command(null, null), "running", "…", "running"],
])("%j is %s", (it, className, mark, words) => {
  expect([exitClass(it), exitMark(it), exitText(it)]).toEqual([className, mark, words]);
});

test.each([
  [null, ""],
  [0.0123, "0.012 s"],
  [3.14159, "3.1 s"],
  [42.4, "42 s"],
  [59.9, "1 min 0 s"],
  [605, "10 min 5 s"],
])("%s seconds are %j", (seconds, shown) => {
  expect(commandDuration(command(0, seconds))).toBe(shown);
});
