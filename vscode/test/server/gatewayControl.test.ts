/** The gateway in the editor: what is asked, where the token is kept, who gets it, and what the status bar says. */
import { beforeEach, expect, test, vi } from "vitest";

type Json = Record<string, unknown>;

const editor = vi.hoisted(() => ({
  commands: new Map<string, () => Promise<void>>(),
  item: {} as { text?: string; tooltip?: string; command?: string },
  typed: undefined as string | undefined,
  asked: [] as { title?: string; password?: boolean }[],
  warned: [] as string[],
  chosen: undefined as string | undefined,
  url: "",
  whenWarned: (): unknown => undefined,
}));
vi.mock("vscode", () => ({
  l10n: {
    t: (words: string, ...values: unknown[]) =>
      words.replace(/\{(\d)\}/g, (_, at: string) => String(values[Number(at)])),
  },
  env: { language: "en" },
  StatusBarAlignment: { Right: 2 },
  ThemeColor: class {},
  EventEmitter: class {},
  workspace: { getConfiguration: () => ({ get: (_: string, otherwise: unknown) => editor.url || otherwise }) },
  commands: {
    registerCommand: (name: string, act: () => Promise<void>) => (
      editor.commands.set(name, act),
      { dispose: () => undefined }
    ),
  },
  window: {
    createStatusBarItem: () => Object.assign(editor.item, { show: () => undefined, dispose: () => undefined }),
    showInputBox: async (options: { title?: string; password?: boolean }) => (editor.asked.push(options), editor.typed),
    showWarningMessage: async (words: string) => (editor.warned.push(words), editor.whenWarned(), editor.chosen),
    showInformationMessage: async (words: string) => void editor.warned.push(words),
  },
}));

import { GatewayControl } from "../../src/server/gatewayControl";
import { stateOf } from "../../src/server/gatewayState";

const CONNECTED = {
  state: "connected",
  address: "ws://127.0.0.1:18789",
  code: "",
  reason: "",
  hint: "",
  untrusted_server: "",
};
let secrets: Map<string, string>;
let asked: [string, Json][];
let answer: Json;
let handlers: Record<string, (told: Json) => Promise<unknown>>;
let ran: string[][];

beforeEach(() => {
  Object.assign(editor, {
    typed: undefined,
    asked: [],
    warned: [],
    chosen: undefined,
    url: "",
    whenWarned: () => undefined,
  });
  [secrets, asked, answer, handlers, ran] = [new Map(), [], CONNECTED, {}, []];
  const bridge = {
    isOpen: true,
    handlers,
    onDidConnect: () => ({ dispose: () => undefined }),
    request: async (method: string, params: Json) => (asked.push([method, params]), answer),
  };
  const dragoman = {
    run: async (words: string[]) => (ran.push(words), { code: 0 }),
    json: async () => [{ key: "trusted_servers", value: ["127.0.0.1:1 me"] }],
  };
  const server = {
    state: { state: "running" },
    onDidChange: () => ({ dispose: () => undefined }),
    showError: (error: unknown) => void editor.warned.push(String(error)),
    withProgram: (act: (it: unknown) => unknown) => act(dragoman),
  };
  const storage = {
    get: async (key: string) => secrets.get(key),
    store: async (key: string, value: string) => void secrets.set(key, value),
    delete: async (key: string) => void secrets.delete(key),
  };
  new GatewayControl(bridge as never, server as never, storage as never);
});

const connect = () => editor.commands.get("dragoman.connectGateway")!();

test("the token is asked for once, as a secret, and kept for that gateway alone", async () => {
  editor.typed = "hush";
  await connect();
  expect(editor.asked).toMatchObject([{ password: true, title: "Token of the gateway ws://127.0.0.1:18789" }]);
  expect(asked).toEqual([["gateway.connect", { address: "ws://127.0.0.1:18789", token: "hush", language: "en" }]]);
  expect([...secrets]).toEqual([["dragoman.gateway.token ws://127.0.0.1:18789", "hush"]]);
  await connect();
  expect([editor.asked.length, asked.length]).toEqual([1, 2]);
  editor.url = "ws://127.0.0.1:9999";
  editor.typed = undefined; // closed: nothing is connected
  await connect();
  expect(editor.asked).toHaveLength(2);
  expect(asked).toHaveLength(2); // the token of one is not sent to another
});

test("the status bar says the four states, and a click does what fits", async () => {
  expect(editor.item).toMatchObject({ text: "$(debug-disconnect) Gateway", command: "dragoman.connectGateway" });
  await handlers["gateway.state"]!({ ...CONNECTED, state: "connecting" });
  expect(editor.item).toMatchObject({ text: "$(sync~spin) Gateway", command: "dragoman.disconnectGateway" });
  await handlers["gateway.state"]!(CONNECTED);
  expect(editor.item.text).toBe("$(plug) Gateway");
  await handlers["gateway.state"]!({ ...CONNECTED, state: "error", reason: "Nobody answers.", hint: "Start it." });
  expect(editor.item).toMatchObject({ text: "$(error) Gateway", command: "dragoman.connectGateway" });
  expect(editor.item.tooltip).toContain("Nobody answers.");
  await editor.commands.get("dragoman.disconnectGateway")!();
  expect(asked.at(-1)?.[0]).toBe("gateway.disconnect");
});

test("what waits for a person is an error, and a word that is not known is one too", () => {
  expect(["pairing_required", "paused", "degraded", "whatever"].map((state) => stateOf({ state }))).toEqual(
    Array(4).fill("error"),
  );
  expect(stateOf(undefined)).toBe("disconnected");
});

test("a server of another user gets the token only after the person agreed, which is kept", async () => {
  secrets.set("dragoman.gateway.token ws://127.0.0.1:18789", "hush");
  answer = { ...CONNECTED, state: "error", untrusted_server: "127.0.0.1:18789 mallory" };
  await connect();
  expect(editor.warned).toEqual([
    "The server at 127.0.0.1:18789 belongs to the user mallory, not to you. Send it your token, now and later?",
  ]);
  expect([asked.length, ran]).toEqual([1, []]); // closed is no
  editor.chosen = "Send it";
  editor.whenWarned = () => (answer = CONNECTED);
  await connect();
  expect(ran).toEqual([["config", "set", "trusted_servers", "127.0.0.1:1 me, 127.0.0.1:18789 mallory"]]);
});
