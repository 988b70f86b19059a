/** Which dragoman a window uses, with a stand-in for the editor and real commands. */
import { appendFile, readFile, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { expect, test, vi } from "vitest";

const editor = vi.hoisted(() => ({
  named: "",
  env: { language: "en" },
  EventEmitter: class {
    event = () => ({ dispose() {} });
    fire() {}
  },
  Uri: { joinPath: (base: { fsPath: string }, name: string) => ({ fsPath: `${base.fsPath}/${name}` }) },
  workspace: {
    isTrusted: false,
    getConfiguration: () => ({ get: () => editor.named }),
    onDidGrantWorkspaceTrust() {},
    onDidChangeWorkspaceFolders() {},
    onDidChangeConfiguration() {},
  },
}));
vi.mock("vscode", () => editor);

import { ProgramFinder } from "../../src/server/programFinder";
import { program, room } from "../temporaryFolders";

/** A dragoman that counts how often it was asked who it is. */
async function counted(base: string) {
  const asked = join(base, "asked");
  await appendFile(asked, "");
  const path = await program(join(base, "dragoman"), `echo x >> ${asked}`, "echo dragoman 1.0");
  return { path, asked: async () => (await readFile(asked, "utf8")).length / 2 };
}

test.each(["by its path", "by its name"])("one that is named %s is asked once who it is", async (how) => {
  const base = await room();
  const { path, asked } = await counted(base);
  vi.stubEnv("PATH", [base, process.env.PATH].join(delimiter));
  editor.named = how === "by its path" ? path : "dragoman";
  const programs = new ProgramFinder({ fsPath: base } as never, { fsPath: base } as never);
  for (const _ of [1, 2]) expect((await programs.find())?.program.path).toBe(editor.named);
  expect(await asked()).toBe(1);
  vi.unstubAllEnvs();
});

test("one that was removed is no longer used", async () => {
  const base = await room();
  editor.named = (await counted(base)).path;
  const programs = new ProgramFinder({ fsPath: base } as never, { fsPath: base } as never);
  expect(await programs.find()).toBeDefined();
  await rm(editor.named);
  expect([await programs.find(), programs.isMissing]).toEqual([undefined, true]);
});
