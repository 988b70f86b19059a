import { describe, expect, test } from "vitest";
import { diffLines } from "../../src/parts/diff";

/** As `diff` writes it. */
function marked(original: string, modified: string): string[] {
  const marks = { same: " ", added: "+", removed: "-" };
  return diffLines(original, modified).map(({ kind, text }) => marks[kind] + text);
}

describe("the difference of two texts", () => {
  test("equal texts have no change", () => {
    expect(marked("a\nb\n", "a\nb\n")).toEqual([" a", " b"]);
  });

  test("a changed line is removed and added, between the lines that stay", () => {
    expect(marked("a\nb\nc", "a\nx\nc")).toEqual([" a", "-b", "+x", " c"]);
  });

  test("the longest common lines stay", () => {
    expect(marked("a\nb\nc\nd", "b\nd\ne")).toEqual(["-a", " b", "-c", " d", "+e"]);
  });

  test("a new file has added lines alone, and an emptied one removed lines alone", () => {
    expect(marked("", "a\nb")).toEqual(["+a", "+b"]);
    expect(marked("a\nb", "")).toEqual(["-a", "-b"]);
  });

  test("each line has its number in both texts", () => {
    expect(diffLines("a\nb\nc", "b\nc\nd")).toEqual([
      { kind: "removed", text: "a", before: 1, after: 0 },
      { kind: "same", text: "b", before: 2, after: 1 },
      { kind: "same", text: "c", before: 3, after: 2 },
      { kind: "added", text: "d", before: 0, after: 3 },
    ]);
  });

  test("texts that are too large to compare are replaced whole", () => {
    const large = (name: string) => Array.from({ length: 2100 }, (_, index) => `${name}${index}`).join("\n");
    const lines = diffLines(`${large("a")}\nsame`, `${large("b")}\nsame`);
    expect(lines.slice(0, 2100).every(({ kind }) => kind === "removed")).toBe(true);
    expect(lines.at(-1)).toEqual({ kind: "same", text: "same", before: 2101, after: 2101 });
  });
});
