import { expect, test } from "vitest";
import { withInlineCode } from "../../src/app/inlineCode";

test("what stands between backticks is code", () => {
  const [before, code, after] = withInlineCode("Run `dragoman up` now.") as [string, { values: unknown[] }, string];
  expect([before, code.values, after]).toEqual(["Run ", ["dragoman up"], " now."]);
});

test("a backtick without its partner is text", () => {
  expect(withInlineCode("it`s")).toBe("it`s");
});
