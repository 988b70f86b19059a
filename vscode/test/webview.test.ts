/** What the chat's view makes of the messages that it is told: the page's own words, with nothing left out. */
import { beforeAll, expect, test, vi } from "vitest";

/** The view's own code is compiled for a browser, this test for the extension's host: so no types of it here. */
const VIEW = "../src/webview/gateway.ts";

interface Heard {
  event: string;
  payload: Record<string, unknown>;
}
interface Gateway extends EventTarget {
  reason: string;
  begin(): void;
  subscribe(listener: (event: Heard) => void): () => void;
  request<T>(method: string, params: Record<string, unknown>): Promise<T>;
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
  gateway.begin();
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
  gateway.addEventListener("trouble", (event) => shown.push((event as CustomEvent<string>).detail));
  tell({ type: "error", message: "The folder cannot be opened." });
  expect(shown).toEqual(["The folder cannot be opened."]);
});

test("a tool call keeps its title", () => {
  const heard: Heard[] = [];
  const stop = gateway.subscribe((event) => heard.push(event));
  tell({ kind: "tool_start", id: "t1", tool: "readFile", title: "Reading src/main.ts", input: { path: "a" }, runId: "r" });
  stop();
  const data = { phase: "start", toolCallId: "t1", name: "readFile", title: "Reading src/main.ts", args: { path: "a" } };
  expect(heard).toEqual([{ event: "agent", payload: { sessionKey: "", runId: "r", stream: "tool", data } }]);
});

test("after the last attempt the view is told that it gave up, not that it is tried again", () => {
  const reasons = ["connected", "disconnected", "error"].map((state) => (tell({ type: "connection_state", state }), gateway.reason));
  expect(reasons[0]).toBe("");
  expect(reasons[1]).toContain("tried again");
  expect(reasons[2]).toContain("Gave up after ten attempts");
});

test("what was sent is called as the gateway calls it", async () => {
  const sent = gateway.request<{ runId: string }>("chat.send", { message: "Hello", idempotencyKey: "ours" });
  const asked = posted.at(-1)!;
  expect(asked).toMatchObject({ type: "send", text: "Hello", runId: "ours" });
  tell({ type: "answer", id: asked.id, ok: true, payload: { runId: "theirs" } });
  expect((await sent).runId).toBe("theirs");
});
