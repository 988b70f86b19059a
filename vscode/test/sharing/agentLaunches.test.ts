/**
 * What a person sees before an agent starts something with a debugger of the editor: with a stand-in for the editor.
 */
import { beforeEach, expect, test, vi } from "vitest";

interface Provider {
  provideTextDocumentContent(uri: { path: string }): string;
}

const editor = vi.hoisted(() => {
  const nothing = () => ({ dispose: () => undefined });
  const state = {
    documents: [] as string[],
    provider: undefined as Provider | undefined,
    started: [] as unknown[],
    Uri: { from: (it: unknown) => it, file: (fsPath: string) => ({ fsPath }) },
    l10n: {
      t: (words: string, ...values: unknown[]) =>
        words.replace(/\{(\d)\}/g, (_, at: string) => String(values[Number(at)])),
    },
    workspace: {
      workspaceFolders: [],
      getWorkspaceFolder: () => undefined,
      registerTextDocumentContentProvider: (_: string, provider: Provider) => ((state.provider = provider), nothing()),
      openTextDocument: async (uri: { path: string }) =>
        void state.documents.push(state.provider!.provideTextDocumentContent(uri)),
    },
    window: { showTextDocument: async () => undefined },
    debug: {
      onDidTerminateDebugSession: nothing,
      startDebugging: async (_: unknown, it: unknown) => (state.started.push(it), false),
    },
  };
  return state;
});
vi.mock("vscode", () => editor);
vi.mock("../../src/debug/debugType", () => ({ TYPE: "dragoman" }));

import { Consent, type Answer } from "../../src/bridge/consent";
import { MAX_NOTIFICATION } from "../../src/bridge/notificationText";
import { AgentLaunches } from "../../src/sharing/agentLaunches";

type Json = Record<string, unknown>;
const CONFIGURATION = { name: "Deploy", type: "bashdb", request: "launch", program: "/project/deploy.sh" };
const AT = { source: { path: "/project/deploy.sh" } };

let questions: string[];
let answer: Answer;
let starting: AgentLaunches;

beforeEach(() => {
  editor.documents.length = 0;
  editor.started.length = 0;
  questions = [];
  answer = "once";
  const kept = new Map<string, unknown>();
  const memory = {
    get: <T>(key: string) => kept.get(key) as T,
    update: async (key: string, value: unknown) => void kept.set(key, value),
  };
  starting = new AgentLaunches(
    new Consent(
      memory,
      async (words) => (questions.push(words), answer),
      () => true,
    ),
  );
});

/** The editor of these tests starts nothing; what was asked before is the matter. */
async function started(more: Json = {}, breakpoints: Json[] = []): Promise<void> {
  const asked = {
    start: "s1",
    configuration: { ...CONFIGURATION, ...more },
    folder: "/project",
    by: "Agent",
    breakpoints,
  };
  await starting.start(asked, new AbortController().signal, () => undefined).catch(() => undefined);
}

test("what breakpoints give the debugger is part of the question, and a plain breakpoint is not", async () => {
  await started({}, [
    {
      ...AT,
      breakpoints: [
        { line: 3, condition: "n > pwned" },
        { line: 4 },
        { line: 5, logMessage: "{ls}", hitCondition: "> 2" },
      ],
    },
  ]);
  expect(questions[0]).toContain(
    'Its breakpoints pass this to the debugger: [{"at":"/project/deploy.sh:3","condition":"n > pwned"},{"at":"/project/deploy.sh:5","hitCondition":"> 2","logMessage":"{ls}"}]',
  );
  await started({}, [{ ...AT, breakpoints: [{ line: 4 }] }]);
  expect(questions[1]).not.toContain("Its breakpoints");
  expect(editor.started).toHaveLength(2);
});

test("what is always allowed is the configuration with those texts: another one asks anew", async () => {
  answer = "always";
  const withText = (condition: string) => started({}, [{ ...AT, breakpoints: [{ line: 3, condition }] }]);
  await withText("n");
  await withText("n");
  expect(questions).toHaveLength(1);
  await withText("n > pwned");
  expect(questions).toHaveLength(2);
});

test("a configuration that is too long for a notification hides nothing in the document either", async () => {
  const args = [
    "x".repeat(MAX_NOTIFICATION),
    "a\u3164b",
    "c\u202ed",
    `e${" ".repeat(300)}f`,
    "g\u2028h",
    "\u65ad\u70b9",
  ];
  await started({ args, "k\u2800": 1 }, [{ ...AT, breakpoints: [{ line: 3, condition: "n\u200b > pwned" }] }]);
  expect(questions[0]).toContain("All of its configuration is open in the editor.");
  const [document] = editor.documents;
  for (const seen of [
    '"a\\u{3164}b"',
    '"c\\u{202e}d"',
    '"e […300 blank characters…] f"',
    '"g\\u{2028}h"',
    '"\u65ad\u70b9"',
    '"k\\u{2800}": 1',
    '"n\\u{200b} > pwned"',
  ])
    expect(document).toContain(seen);
  expect(document).not.toMatch(/[\u3164\u202e\u2028\u2800\u200b]| {40}/);
  expect(document!.split("\n")[1]).toBe('  "name": "Deploy",');
});

test("the names of all variables are shown, whichever way they are given, and no value", async () => {
  await started({ env: { LD_PRELOAD: "secret" }, environment: [{ name: "PATH", value: "secret" }] });
  expect(questions[0]).toContain('"env":["LD_PRELOAD","PATH"]');
  expect(questions[0]).not.toContain("secret");
});
