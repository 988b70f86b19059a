/** Commands that stand in a launch.json: a person sees what runs and what it is given, and "always" is for both. */
import { beforeEach, expect, test, vi } from "vitest";

const editor = vi.hoisted(() => ({ inputs: [] as object[], ran: [] as unknown[][] }));
vi.mock("vscode", () => ({
  l10n: {
    t: (words: string, ...values: unknown[]) =>
      words.replace(/\{(\d)\}/g, (_, at: string) => String(values[Number(at)])),
  },
  extensions: { all: [] },
  workspace: {
    workspaceFolders: [{ uri: "file:///project" }],
    getConfiguration: () => ({
      get: (section: string, otherwise: unknown) => (section === "inputs" ? editor.inputs : otherwise),
    }),
  },
  commands: { executeCommand: async (...words: unknown[]) => (editor.ran.push(words), "chosen") },
}));

import { Consent, type Answer } from "../../src/bridge/consent";
import { resolveVariable } from "../../src/bridge/launchVariables";

const SEQUENCE = "workbench.action.terminal.sendSequence";
let asked: string[];
let answer: Answer;
let consent: Consent;

beforeEach(() => {
  [asked, answer, editor.ran] = [[], "always", []];
  const kept = new Map<string, unknown>();
  const memory = {
    get: <T>(key: string) => kept.get(key) as T,
    update: async (key: string, value: unknown) => void kept.set(key, value),
  };
  consent = new Consent(
    memory,
    async (words) => (asked.push(words), answer),
    () => true,
  );
});

const resolve = (args?: unknown) => {
  editor.inputs = [{ id: "it", type: "command", command: SEQUENCE, ...(args === undefined ? {} : { args }) }];
  return resolveVariable(consent, { variable: "input:it" }, new AbortController().signal);
};

test("what a command is given is part of the question, and of what is always allowed", async () => {
  await resolve({ text: "ls\n" });
  expect(asked).toEqual([
    `A launch configuration that an agent starts runs the command ${SEQUENCE} with {"text":"ls\\n"}.`,
  ]);
  await resolve({ text: "ls\n" });
  expect([asked.length, editor.ran.length]).toEqual([1, 2]);
  answer = undefined; // closed
  await expect(resolve({ text: "rm -r ~\n" })).rejects.toMatchObject({ code: "not_allowed" });
  await expect(resolve()).rejects.toMatchObject({ code: "not_allowed" });
  expect([asked.length, editor.ran.length]).toEqual([3, 2]);
});

test("a command that is given nothing is named alone", async () => {
  await expect(resolve()).resolves.toEqual({ value: "chosen" });
  await resolve();
  expect(asked).toEqual([`A launch configuration that an agent starts runs the command ${SEQUENCE}.`]);
});

test("what is too long to be seen whole is not asked, and does not run", async () => {
  await expect(resolve({ text: "x".repeat(2000) })).rejects.toMatchObject({ code: "too_long" });
  expect([asked, editor.ran]).toEqual([[], []]);
});
