import { beforeEach, expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { daemon, held, Refused, settled } from "../daemon";
import { SessionOutput } from "../../src/debugger/sessionOutput";

let output: SessionOutput;

beforeEach(() => {
  daemon.start({});
  output = new SessionOutput(() => undefined);
  output.setSession("s", "/w");
});

const shown = () => output.lines.all.join("\n");

test("output is read to its end, from where the last read stopped", async () => {
  const parts = [
    { output: "one\ntw", cursor: 6, left: 3 },
    { output: "o\n", cursor: 8, left: 0 },
  ];
  daemon.answers["get_output"] = () => parts.shift();
  await output.read();
  expect(shown()).toBe("one\ntwo");
  expect(daemon.asked.map(([, args]) => args["cursor"])).toEqual([0, 6]);
});

test("characters that were dropped are counted in their place", async () => {
  daemon.answers["get_output"] = () => ({ output: "end", cursor: 99, left: 0, missed: 40 });
  await output.read();
  expect(shown()).toContain("40 earlier characters are not shown.");
});

test("output of a session that was left meanwhile is not shown", async () => {
  const { answer, given } = held();
  daemon.answers["get_output"] = answer;
  const read = output.read();
  await settled();
  output.setSession("t", "/w");
  given[0]!({ output: "of s", cursor: 4, left: 0 });
  await vi.waitFor(() => expect(given).toHaveLength(2));
  given[1]!({ output: "of t", cursor: 4, left: 0 });
  await read;
  expect(shown()).toBe("of t");
});

test.each([new Refused({ message: "No session s." }), new Error("lost")])("reading ends at: %s", async (error) => {
  daemon.answers["get_output"] = () => Promise.reject(error);
  await output.read();
  expect(shown()).toBe("");
  expect(daemon.asked).toHaveLength(1);
});
