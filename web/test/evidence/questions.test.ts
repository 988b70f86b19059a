import { expect, test } from "vitest";
import { firstDifference } from "../../src/evidence/results/rowDifference";
import { emptyForm, placeArguments, splitExpressions, toolCall, withQuestion } from "../../src/evidence/questions";

const form = (changes: Partial<ReturnType<typeof emptyForm>>) => ({ ...emptyForm(), subject: "app.py", ...changes });

test("a place is a line, a function, or text of a line", () => {
  expect(placeArguments("shop/cart.py:12")).toEqual({ file_path: "shop/cart.py", line_number: 12 });
  expect(placeArguments(":12")).toEqual({ line_number: 12 });
  expect(placeArguments("12")).toEqual({ line_number: 12 });
  expect(placeArguments("Cart.total")).toEqual({ function: "Cart.total" });
  expect(placeArguments("cart.py::Cart.total")).toEqual({ file_path: "cart.py", function: "Cart.total" });
  expect(placeArguments("total += line")).toEqual({ line_text: "total += line" });
});

test("expressions are separated by commas outside of brackets and quotes", () => {
  expect(splitExpressions("f(a, b), x[1, 2], 'a,b',, y ")).toEqual(["f(a, b)", "x[1, 2]", "'a,b'", "y"]);
  expect(splitExpressions(" ")).toEqual([]);
});

test("each question is one call of a tool, with what it needs and no more", () => {
  expect(toolCall(form({ kind: "last" }))).toEqual({ tool: "explain_failure", args: { timeout_s: 60 } });
  expect(toolCall(form({ kind: "command", subject: "pytest -x ", cwd: "/w/sub", repeat: 20 })).args).toEqual({
    command: "pytest -x",
    cwd: "/w/sub",
    repeat: 20,
    timeout_s: 60,
  });
  expect(toolCall(form({ question: "trace_call", kind: "program", function: "total", where: "n > 2" })).args).toEqual({
    program: "app.py",
    function: "total",
    call: "outermost",
    where: "n > 2",
    timeout_s: 60,
  });
  const points = [{ place: "a.py:3", expressions: "x, y", condition: "x > 1" }];
  expect(toolCall(form({ question: "check", points, claim: "x < 9" })).args).toMatchObject({
    file_path: "a.py",
    line_number: 3,
    condition: "x > 1",
    claim: "x < 9",
  });
  expect(toolCall(form({ question: "trace", points })).args["points"]).toEqual([
    { file_path: "a.py", line_number: 3, expressions: ["x", "y"], condition: "x > 1" },
  ]);
});

test("the other run has another commit, something else to run, or another environment", () => {
  const against = (changes: Partial<ReturnType<typeof emptyForm>>) =>
    toolCall(form({ question: "compare_runs", ...changes })).args["against"];
  expect(against({ differsBy: "commit", other: "HEAD~1 " })).toEqual({ commit: "HEAD~1" });
  expect(against({ differsBy: "subject", kind: "command", other: "pytest b" })).toEqual({ command: "pytest b" });
  expect(against({ differsBy: "env", other: "A=1 B=x=y" })).toEqual({ env: { A: "1", B: "x=y" } });
});

test("a question about a run cannot be about the last failed command, unless it is why it failed", () => {
  expect(withQuestion(form({ kind: "last" }), "trace").kind).toBe("test");
  expect(withQuestion(form({ kind: "program" }), "trace").kind).toBe("program");
});

test("two runs differ first where a value does, or where one of them ends", () => {
  const row = (hit: number, ...cells: string[]) => ({ hit, point: 1, cells });
  const one = [row(1, "a", "<X at 0x7f1234567890>"), row(2, "b")];
  expect(firstDifference(one, [row(1, "a", "<X at 0x7f9999999999>"), row(2, "c")])).toBe(1);
  expect(firstDifference(one, [one[0]!])).toBe(1);
  expect(firstDifference(one, one)).toBe(2);
});
