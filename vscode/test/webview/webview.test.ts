/** What the chat's view makes of the messages that it is told: the page's own words, with nothing left out. */
import { beforeAll, expect, test, vi } from "vitest";

/** The view's own code is compiled for a browser, this test for the extension's host: so no types of it here. */
const VIEW = "../../src/webview/gateway.ts";
const CANVAS = "../../src/webview/surfaces.ts";

interface Heard {
  event: string;
  payload: Record<string, unknown>;
}
interface Gateway extends EventTarget {
  reason: string;
  start(): void;
  subscribe(listener: (event: Heard) => void): () => void;
  request<T>(method: string, params: Record<string, unknown>): Promise<T>;
}

interface Canvas {
  feed: { start(): void };
  post(path: string, body: object): Promise<unknown>;
}

const posted: { type: string; id?: number }[] = [];
const ORIGIN = "vscode-webview://of-this-view";
const view = Object.assign(new EventTarget(), { origin: ORIGIN });
let gateway: Gateway;

beforeAll(async () => {
  vi.stubGlobal("acquireVsCodeApi", () => ({ postMessage: (message: { type: string }) => posted.push(message) }));
  vi.stubGlobal("window", view);
  vi.stubGlobal("document", { documentElement: { dataset: { language: "en" } } });
  vi.stubGlobal("navigator", { language: "en" });
  ({ gateway } = (await import(VIEW)) as { gateway: Gateway });
  gateway.start();
});

function tell(data: object, origin = ORIGIN): void {
  view.dispatchEvent(Object.assign(new Event("message"), { data, origin }));
}

test("what a window of another origin says is not heard", () => {
  const heard: unknown[] = [];
  const stop = gateway.subscribe((event) => heard.push(event));
  const started = { kind: "tool_start", id: "t0", tool: "readFile", runId: "r" };
  for (const origin of ["https://evil.example", "null", ""]) tell(started, origin);
  expect(heard).toEqual([]);
  tell(started);
  stop();
  expect(heard).toHaveLength(1);
});

test("an error that the extension tells is handed to who shows it", () => {
  const shown: string[] = [];
  gateway.addEventListener("gateway-error", (event) => shown.push((event as CustomEvent<string>).detail));
  tell({ type: "error", message: "The folder cannot be opened." });
  expect(shown).toEqual(["The folder cannot be opened."]);
});

test("a tool call keeps its title", () => {
  const heard: Heard[] = [];
  const stop = gateway.subscribe((event) => heard.push(event));
  tell({
    kind: "tool_start",
    id: "t1",
    tool: "readFile",
    title: "Reading src/main.ts",
    input: { path: "a" },
    runId: "r",
  });
  stop();
  const data = {
    phase: "start",
    toolCallId: "t1",
    name: "readFile",
    title: "Reading src/main.ts",
    args: { path: "a" },
  };
  expect(heard).toEqual([{ event: "agent", payload: { sessionKey: "", runId: "r", stream: "tool", data } }]);
});

test("a tool that failed is shown with what it wrote and with what went wrong, each once", () => {
  const heard: Heard[] = [];
  const stop = gateway.subscribe((event) => heard.push(event));
  const results = [
    ["half", "exit code 2"],
    ["", "exit code 2"],
    ["same", "same"],
    ["whole", null],
  ];
  for (const [output, error] of results) tell({ kind: "tool_result", id: "t1", output, error, runId: "r" });
  stop();
  const shown = heard.map(({ payload }) => payload.data as { result: { content: string }; isError: boolean });
  expect(shown.map(({ result }) => result.content)).toEqual(["half\nexit code 2", "exit code 2", "same", "whole"]);
  expect(shown.map(({ isError }) => isError)).toEqual([true, true, true, false]);
});

test("after the last attempt the view is told that it gave up, not that it is tried again", () => {
  const reasons = ["connected", "disconnected", "error"].map(
    (state) => (tell({ type: "connection_state", state }), gateway.reason),
  );
  expect(reasons[0]).toBe("");
  expect(reasons[1]).toContain("Retrying");
  expect(reasons[2]).toContain("Could not reach the daemon after ten attempts");
});

test("what a person does on the canvas is told as the specification writes it, with what it was done on beside it", async () => {
  const { feed, post } = (await import(CANVAS)) as Canvas;
  feed.start();
  const actions = { sure: "onConfirm", tree: "onSelect", press: "onClick" };
  tell({ type: "a2ui", payload: { createSurface: {} }, drawn: { drawer: "d", surface_id: "s", actions } });
  const of = { drawer: "d", surface_id: "s", scope: "", changes: [] };
  const act = (component_id: string, details: object) => void post("/api/canvas/act", { ...of, component_id, details });
  act("sure", { componentId: "sure", confirmed: true });
  act("tree", { path: "/a.py" });
  act("press", {});
  expect(posted.slice(-3)).toMatchObject([
    { type: "userAction", action: "onConfirm", context: { componentId: "sure", confirmed: true } },
    { type: "userAction", action: "onSelect", context: { path: "/a.py" } },
    { type: "userAction", action: "onClick", context: { componentId: "press" }, of: { ...of, component_id: "press" } },
  ]);
});

test("what was sent is called as the gateway calls it", async () => {
  const sent = gateway.request<{ runId: string }>("chat.send", { message: "Hello", idempotencyKey: "ours" });
  const asked = posted.at(-1)!;
  expect(asked).toMatchObject({ type: "send", text: "Hello", runId: "ours" });
  tell({ type: "answer", id: asked.id, ok: true, payload: { runId: "theirs" } });
  expect((await sent).runId).toBe("theirs");
});
