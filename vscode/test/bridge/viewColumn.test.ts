/** Where a file that an agent opens is shown, with a stand-in for the editor's groups. */
import { beforeEach, expect, test, vi } from "vitest";

interface Text {
  document: { uri: { scheme: string } };
  viewColumn: number;
}

const editor = vi.hoisted(() => ({
  TabInputText: class {
    constructor(readonly uri: string) {}
  },
  ViewColumn: { One: 1 },
  window: {
    tabGroups: { all: [] as { viewColumn: number; tabs: { input: unknown }[] }[] },
    activeTextEditor: undefined as Text | undefined,
    visibleTextEditors: [] as Text[],
  },
}));
vi.mock("vscode", () => editor);

import type { Uri } from "vscode";
import { viewColumnOf } from "../../src/bridge/viewColumn";

const CANVAS = { input: { viewType: "dragoman.canvas" } };
const file = (path: string) => path as unknown as Uri;
const tab = (path: string) => ({ input: new editor.TabInputText(path) });
const text = (viewColumn: number, scheme = "file"): Text => ({ document: { uri: { scheme } }, viewColumn });

/** Each group with its tabs, from the left. */
function groups(...all: { input: unknown }[][]): void {
  editor.window.tabGroups.all = all.map((tabs, index) => ({ viewColumn: index + 1, tabs }));
}

beforeEach(() => {
  groups();
  editor.window.activeTextEditor = undefined;
  editor.window.visibleTextEditors = [];
});

test("a file that is open is revealed where it is, wherever the person is", () => {
  groups([tab("/w/a.py")], [tab("/w/b.py")], [CANVAS]);
  editor.window.activeTextEditor = text(1);
  expect(viewColumnOf(file("/w/b.py"))).toBe(2);
});

test("another file comes where the person writes", () => {
  groups([tab("/w/a.py")], [tab("/w/b.py")]);
  editor.window.activeTextEditor = text(2);
  expect(viewColumnOf(file("/w/c.py"))).toBe(2);
});

test("a canvas that has the focus stays in sight: the file comes where texts are", () => {
  groups([CANVAS], [tab("/w/a.py")]);
  editor.window.visibleTextEditors = [text(1, "output"), text(2)];
  expect(viewColumnOf(file("/w/c.py"))).toBe(2);
});

test("where no text is, the first group has it", () => {
  expect(viewColumnOf(file("/w/c.py"))).toBe(1);
});
