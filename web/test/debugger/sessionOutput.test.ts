import { beforeEach, expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { daemon, held, Refused, settled } from "../daemon";
import { SessionOutput } from "../../src/debugger/output/sessionOutput";

const BEGINNING = "/api/debug/output?session=s&cursor=0";
let output: SessionOutput;

beforeEach(() => {
  daemon.start({});
  output = new SessionOutput(() => undefined);
  output.setSession("s");
});

const printed = (text: string) => [{ category: "stdout", text }];
const shown = () => output.lines.all.map(({ text }) => text).join("\n");

test("output is read to its end, from where the last read stopped", async () => {
  const parts = [
    { pieces: printed("one\ntw"), cursor: 6, missed: 0, left: 3 },
    { pieces: printed("o\n"), cursor: 8, missed: 0, left: 0 },
  ];
  for (const cursor of [0, 6]) daemon.answers[`/api/debug/output?session=s&cursor=${cursor}`] = () => parts.shift();
  await output.read();
  expect(shown()).toBe("one\ntwo");
  expect(daemon.asked).toHaveLength(2);
});

test("characters that were dropped are counted in their place", async () => {
  daemon.answers[BEGINNING] = () => ({ pieces: printed("end"), cursor: 99, left: 0, missed: 40 });
  await output.read();
  expect(shown()).toContain("40 earlier characters are not shown.");
});

test("output of a session that was left meanwhile is not shown", async () => {
  const { answer, given } = held();
  daemon.answers[BEGINNING] = answer;
  daemon.answers[BEGINNING.replace("=s&", "=t&")] = answer;
  const read = output.read();
  await settled();
  output.setSession("t");
  given[0]!({ pieces: printed("of s"), cursor: 4, missed: 0, left: 0 });
  await vi.waitFor(() => expect(given).toHaveLength(2));
  given[1]!({ pieces: printed("of t"), cursor: 4, missed: 0, left: 0 });
  await read;
  expect(shown()).toBe("of t");
});

test.each([new Refused({ message: "No session s." }), new Error("lost")])("reading ends at: %s", async (error) => {
  daemon.answers[BEGINNING] = () => Promise.reject(error);
  await output.read();
  expect(shown()).toBe("");
  expect(daemon.asked).toHaveLength(1);
});
