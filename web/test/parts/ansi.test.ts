import { expect, test } from "vitest";
import { ansiRuns, terminal } from "../../src/parts/ansi";

test("colours and bold become runs, and a reset ends them", () => {
  expect(ansiRuns("a\x1b[1;31mb\x1b[0mc", new Set())).toEqual([
    { text: "a", look: "" },
    { text: "b", look: "bold ink-red" },
    { text: "c", look: "" },
  ]);
});

test("bright colours are shown as their plain ones, and colours of the large palettes as none", () => {
  expect(ansiRuns("\x1b[92mok\x1b[38;5;200m!\x1b[38;2;1;2;3m?", new Set())).toEqual([
    { text: "ok", look: "ink-green" },
    { text: "!", look: "ink-green" },
    { text: "?", look: "ink-green" },
  ]);
});

test("a colour lasts into the next line", () => {
  expect(terminal("\x1b[34mone\ntwo", 10)).toEqual([
    [{ text: "one", look: "ink-blue" }],
    [{ text: "two", look: "ink-blue" }],
  ]);
});

test("titles, cursor movements and control characters are left out", () => {
  expect(ansiRuns("\x1b]0;title\x07a\x1b[2Kb\x08\x1b[?25lc", new Set()).map(({ text }) => text)).toEqual([
    "a",
    "b",
    "c",
  ]);
});

test("a line that was written over shows its last state, and only the last lines are kept", () => {
  expect(terminal("10%\r50%\r100%\r\ndone", 2).map((runs) => runs.map(({ text }) => text).join(""))).toEqual([
    "100%",
    "done",
  ]);
  expect(terminal("a\nb\nc", 1)).toEqual([[{ text: "c", look: "" }]]);
});
