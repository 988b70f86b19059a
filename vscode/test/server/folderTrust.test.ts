/** A person's word for a folder: for the place that they were shown. */
import { mkdirSync, mkdtempSync, realpathSync, renameSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";

const editor = vi.hoisted(() => ({ said: [] as string[], whenAsked: (): unknown => undefined }));
vi.mock("vscode", () => ({
  l10n: {
    t: (words: string, ...values: unknown[]) =>
      words.replace(/\{(\d)\}/g, (_, at: string) => String(values[Number(at)])),
  },
  window: { showWarningMessage: async (words: string) => (editor.said.push(words), editor.whenAsked(), "Allow") },
}));

import type { Server } from "../../src/server/server";
import { trustFolder } from "../../src/server/folderTrust";

let base: string;
let ran: string[][];

beforeEach(() => {
  [ran, editor.said, editor.whenAsked] = [[], [], () => undefined];
  base = realpathSync(mkdtempSync(join(tmpdir(), "trusting-")));
  for (const name of ["shown", "other"]) mkdirSync(join(base, name));
});

function trust(folder: string): Promise<boolean> {
  const dragoman = { run: async (words: string[]) => (ran.push(words), { code: 0 }) };
  return trustFolder({ withProgram: (act: (it: unknown) => unknown) => act(dragoman) } as unknown as Server, folder);
}

test("it is for where the folder really lies, which is what is shown", async () => {
  symlinkSync(join(base, "shown"), join(base, "link"));
  expect(await trust(join(base, "link"))).toBe(true);
  expect(editor.said).toEqual([`Let agents run the code in ${join(base, "shown")}?`]);
  expect(ran).toEqual([["trust", join(base, "shown")]]);
});

test("a folder that another took the place of before the answer is not trusted", async () => {
  editor.whenAsked = () => {
    if (editor.said.length > 1) return;
    renameSync(join(base, "shown"), join(base, "away"));
    symlinkSync(join(base, "other"), join(base, "shown"));
  };
  expect(await trust(join(base, "shown"))).toBe(false);
  expect([ran, editor.said[1]]).toEqual([[], `${join(base, "shown")} now points elsewhere. Nothing was trusted.`]);
});
