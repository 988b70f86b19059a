import { beforeEach, expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { daemon, held, Refused, settled, type Json } from "../daemon";
import { Watches } from "../../src/debugger/variables/watches";

const AT = { workspace: "/w", session_id: "s", frame_id: 1 };
let saved: string[];

beforeEach(() => {
  saved = ["a"];
  daemon.start({
    watches: () => saved,
    change: ({ watch, unwatch }) => (saved = watch ? [...saved, String(watch)] : saved.filter((it) => it !== unwatch)),
    evaluate_expression: ({ expression }) => ({
      result: `${String(expression)}!`,
      type: "str",
      variables_reference: 0,
    }),
  });
});

const shown = (watches: Watches) => watches.nodes.map(({ name, value }) => [name, value]);

test("stored expressions are evaluated at the frame", async () => {
  const watches = new Watches(() => undefined);
  await watches.evaluate(AT);
  expect(shown(watches)).toEqual([["a", "a!"]]);
  const expected = { session_id: "s", frame_id: 1, expression: "a", context: "watch" };
  expect(daemon.askedFor("evaluate_expression")).toEqual([expected]);
});

test("an expression is added once, stored, and removed again", async () => {
  const watches = new Watches(() => undefined);
  await settled();
  watches.add("b");
  watches.add("a");
  watches.add("");
  expect(shown(watches)).toEqual([
    ["a", ""],
    ["b", ""],
  ]); // before any answer
  watches.remove("a");
  await settled();
  expect(saved).toEqual(["b"]);
  expect(shown(watches)).toEqual([["b", ""]]);
});

test("a value of an earlier stop is not shown at a later one", async () => {
  const { answer, given } = held();
  daemon.answers["evaluate_expression"] = answer;
  const watches = new Watches(() => undefined);
  const rounds = [watches.evaluate(AT)];
  await settled();
  rounds.push(watches.evaluate({ ...AT, frame_id: 2 }));
  await settled();
  given[1]!({ result: "new", variables_reference: 0 });
  given[0]!({ result: "old", variables_reference: 0 });
  await Promise.all(rounds);
  expect(shown(watches)).toEqual([["a", "new"]]);
  watches.forgetValues();
  expect(shown(watches)).toEqual([["a", ""]]);
});

test("an expression that fails shows what the debugger says", async () => {
  daemon.answers["evaluate_expression"] = () => {
    throw new Refused({ message: "It failed.", debugger_says: "NameError: a" } satisfies Json);
  };
  const watches = new Watches(() => undefined);
  await watches.evaluate(AT);
  expect(watches.nodes[0]).toMatchObject({ value: "NameError: a", isBad: true });
});
