/** A change that an agent made, in the editor's comparison: as the person allows it. */
import { beforeEach, expect, test, vi } from "vitest";

const editor = vi.hoisted(() => ({
  settings: { showChanges: "ask" } as Record<string, string>,
  answer: undefined as string | undefined,
  asked: [] as string[],
  compared: [] as unknown[][],
  l10n: {
    t: (template: string, ...values: unknown[]) =>
      template.replace(/\{(\d)\}/g, (_, index) => String(values[Number(index)])),
  },
  ConfigurationTarget: { Global: 1 },
  Uri: {
    from: ({ path, query }: { path: string; query: string }) => ({ path, query, toString: () => `${path}?${query}` }),
  },
  workspace: {} as Record<string, unknown>,
  window: {} as Record<string, unknown>,
  commands: {} as Record<string, unknown>,
}));
vi.mock("vscode", () => editor);

import { FileChanges } from "../../src/views/fileChanges";

const CHANGE = { kind: "diff", path: "a/b.py", original: "old", modified: "new", runId: "r" } as const;

beforeEach(() => {
  Object.assign(editor, { settings: { showChanges: "ask" }, answer: undefined, asked: [], compared: [] });
  const settings = {
    get: (key: string) => editor.settings[key],
    update: async (key: string, value: string) => void (editor.settings[key] = value),
  };
  Object.assign(editor.workspace, {
    isTrusted: true,
    getConfiguration: () => settings,
    registerTextDocumentContentProvider: () => ({ dispose() {} }),
  });
  editor.window.showInformationMessage = async (words: string) => (editor.asked.push(words), editor.answer);
  editor.commands.executeCommand = async (...words: unknown[]) => editor.compared.push(words);
});

test.each([
  ["Show", "ask", 2, 2],
  ["Always", "always", 1, 2],
  ["Never", "never", 1, 0],
  [undefined, "ask", 2, 0],
] as const)(
  "asked and answered %s: it is %s from then on; of two changes, %i are asked about and %i shown",
  async (answer, kept, asked, shown) => {
    const changes = new FileChanges();
    editor.answer = answer;
    for (let time = 0; time < 2; time++) await changes.offer(CHANGE);
    expect([editor.settings.showChanges, editor.asked.length, editor.compared.length]).toEqual([kept, asked, shown]);
  },
);

test("both sides are what was told; a file that is new is compared with nothing, and said to be", async () => {
  const changes = new FileChanges();
  editor.settings.showChanges = "always";
  await changes.offer(CHANGE);
  await changes.offer({ ...CHANGE, original: null });
  const [changed, made] = editor.compared.map(([, before, after, title]) => [
    title,
    ...[before, after].map((uri) => changes.provideTextDocumentContent(uri as never)),
  ]);
  expect(changed).toEqual(["a/b.py (changed by an agent)", "old", "new"]);
  expect(made).toEqual(["a/b.py (new)", "", "new"]);
});

test("in a workspace that is not trusted nothing is asked and nothing opens", async () => {
  editor.workspace.isTrusted = false;
  for (const allowed of ["ask", "always"]) {
    editor.settings.showChanges = allowed;
    await new FileChanges().offer(CHANGE);
  }
  expect([editor.asked, editor.compared]).toEqual([[], []]);
});
