import { expect, test } from "vitest";
import { fileChanges } from "../../src/chat/fileChanges";

test("a written file is a change from nothing", () => {
  expect(fileChanges("1", "write", { path: "a.py", content: "x\n" })).toEqual([
    { kind: "diff", id: "1", path: "a.py", original: "", modified: "x\n" },
  ]);
});

test.each([
  ["Edit", { file_path: "a.py", old_string: "a", new_string: "b" }],
  ["edit_file", { path: "a.py", oldText: "a", newText: "b" }],
  ["str_replace", { path: "a.py", old: "a", new: "b" }],
  ["multi_edit", { path: "a.py", edits: [{ old_string: "a", new_string: "b" }] }],
])("%s is a change of one passage", (tool, args) => {
  expect(fileChanges("1", tool, args)).toEqual([{ kind: "diff", id: "1", path: "a.py", original: "a", modified: "b" }]);
});

test.each([
  ["read", { path: "a.py", content: "x" }],
  ["write", { path: "a.py" }],
  ["write", { content: "x" }],
  ["edit", { path: "a.py", old_string: "a" }],
  ["edit", null],
])("%s with %j changes nothing", (tool, args) => {
  expect(fileChanges("1", tool, args)).toEqual([]);
});
