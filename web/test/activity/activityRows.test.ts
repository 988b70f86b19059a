import { expect, test } from "vitest";

import {
  activityLines,
  addressOf,
  groupRows,
  hasFailed,
  relativePath,
  sessionTitles,
} from "../../src/activity/activityRows";
import type { FeedRow } from "../../src/link";

let sequence = 100;
const row = (kind: string, session = "", body: Record<string, unknown> = {}): FeedRow => ({
  sequence: sequence--,
  at_ns: 1,
  event: { kind, session, body },
});
const by = ({ event }: FeedRow) => String(event.body?.["by"] ?? "");

test("consecutive events of one session and actor are one group, and a program's own belong to it", () => {
  const rows = [
    row("debug.resumed", "s1", { by: "a" }),
    row("debug.stopped", "s1"),
    row("debug.resumed", "s1", { by: "b" }),
    row("debug.resumed", "s2", { by: "b" }),
    row("test.told"),
    row("test.told"),
  ];
  const groups = groupRows(rows, by);
  expect(groups.map((it) => [it.session, it.actor, it.rows.length])).toEqual([
    ["s1", "a", 2],
    ["s1", "b", 1],
    ["s2", "b", 1],
    ["", "", 1],
    ["", "", 1],
  ]);
  const shown = activityLines(groups, new Set());
  expect(shown.map(({ kind }) => kind)).toEqual(["group", ...Array<string>(6).fill("event")]);
  expect(activityLines(groups, new Set([groups[0]!.key])).length).toBe(5);
});

test("a group keeps its key as newer events join it", () => {
  const [older, newer] = [row("debug.stopped", "s1"), row("debug.stopped", "s1")];
  expect(groupRows([older], by)[0]!.key).toBe(groupRows([newer, older], by)[0]!.key);
});

test("what failed is an exit code, an exception or a failure, and not an ordinary stop", () => {
  expect(hasFailed(row("terminal.command_ended", "t", { exit_code: 2 }))).toBe(true);
  expect(hasFailed(row("terminal.command_ended", "t", { exit_code: 0 }))).toBe(false);
  expect(hasFailed(row("debug.ended", "s", { exit_code: null }))).toBe(false);
  expect(hasFailed(row("debug.stopped", "s", { reason: "exception" }))).toBe(true);
  expect(hasFailed(row("debug.stopped", "s", { reason: "breakpoint" }))).toBe(false);
  expect(hasFailed(row("debug.failed", "s"))).toBe(true);
});

test("a moment has an address where there is something to look at", () => {
  expect(addressOf(row("debug.stopped", "s 1", { stop: 3 }))).toBe("#debugger/s%201/3");
  expect(addressOf(row("debug.ended", "s1"))).toBe("#debugger/s1");
  expect(addressOf(row("terminal.command_ended", "t1"))).toBe("#terminals/t1");
  expect(addressOf(row("chat.said", "agent:main:k"))).toBe("#chat/k");
  expect(addressOf(row("canvas.surface_updated", "mcp-1", { versions: { report: 1 } }))).toBe("#canvas/mcp-1/report");
  for (const kind of ["chat.session_removed", "canvas.surface_removed", "daemon.started", "mcp.connected"])
    expect(addressOf(row(kind, "x"))).toBe("");
});

test("paths are relative to their folder, and only to it", () => {
  expect(relativePath("/w/src/a.py", "/w")).toBe("src/a.py");
  expect(relativePath("/shop/a.py", "/w")).toBe("/shop/a.py");
  expect(relativePath("/w/a.py", undefined)).toBe("/w/a.py");
});

test("a session is called as its program, shell or conversation is", () => {
  const titles = sessionTitles([
    row("debug.started", "s1", { title: "orders.py" }),
    row("terminal.began", "t1", { attributes: { shell: "bash" } }),
    row("debug.stopped", "s2"),
  ]);
  expect([...titles]).toEqual([
    ["s1", "orders.py"],
    ["t1", "bash"],
  ]);
});
