/** Files of a window whose files are elsewhere: agents know their paths, the editor its own names. */
import { expect, test } from "vitest";

import { RemotePaths } from "../../src/sharing/remotePaths";

const frame = (path: string, more = {}) => ({
  stackFrames: [{ id: 1, line: 2, source: { name: "a.js", path, ...more } }],
});

test("what the editor calls a remote file is a path for agents", () => {
  const paths = new RemotePaths();
  expect(paths.toPlain(frame("vscode-remote://127.0.0.1:8083/tmp/my%20project/%C3%A4.js"))).toEqual(
    frame("/tmp/my project/\u00e4.js"),
  );
  expect(paths.toPlain(frame("vscode-remote://ssh-remote+host/a.js"))).toEqual(frame("/a.js"));
});

test.each([
  "/tmp/a.js",
  "<node_internals>/fs.js",
  "node:internal/modules",
  "https://example.org/a.js",
  "vscode-remote://host",
  "c:\\a.js",
])("%s stays as it is", (path) => {
  expect(new RemotePaths().toPlain(frame(path))).toEqual(frame(path));
});

test("what is asked goes back as the editor calls it, once that is known", () => {
  const paths = new RemotePaths();
  const asked = { source: { path: "/tmp/my project/a#1.js" }, line: 3 };
  expect(paths.toEditor(asked)).toEqual(asked);
  paths.toPlain(frame("vscode-remote://wsl+Ubuntu/x.js"));
  const there = paths.toEditor(asked);
  expect(there.source.path).toBe("vscode-remote://wsl+Ubuntu/tmp/my%20project/a%231.js");
  expect(paths.toPlain(there)).toEqual(asked);
  expect(paths.toEditor({ source: { path: "/eval.js", sourceReference: 7 } }).source.path).toBe("/eval.js");
});

test("only places are paths: values, names and numbers stay", () => {
  const value = {
    variables: [{ name: "path", value: "vscode-remote://host/a.js", variablesReference: 0 }],
    none: null,
  };
  expect(new RemotePaths().toPlain(value)).toEqual(value);
});
