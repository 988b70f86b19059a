/** What the views say, what they are told, and that nothing is lost before they listen. */
import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";

import type { GatewayClient, Listener, State } from "../../src/gateway/client";
import type { FromChat, ToCanvas, ToChat } from "../../src/gateway/messages";
import type { Api } from "../../src/daemon/api";
import { CanvasSession } from "../../src/views/canvasSession";
import { html } from "../../src/views/html";
import { ViewPort } from "../../src/views/viewPort";
import { ChatSession } from "../../src/views/chatSession";

function sink<Message>() {
  const heard: Message[] = [];
  return { heard, postMessage: (message: unknown) => heard.push(message as Message) > 0 };
}

test("what is said before the view listens is kept in order; of too much, the newest", () => {
  const port = new ViewPort<number>();
  for (let number = 0; number < 1500; number++) port.post(number);
  const view = sink<number>();
  port.open(view);
  port.post(1500);
  expect(view.heard).toHaveLength(1001);
  expect([view.heard[0], view.heard.at(-1)]).toEqual([500, 1500]);
});

function talking(answers: Record<string, unknown> = {}, folder?: string) {
  const asked: [string, object][] = [];
  let listener: Listener = {};
  const gateway = {
    state: "connected" as State,
    listen: (it: Listener) => ((listener = it), { dispose() {} }),
    request: async (method: string, params: object) => {
      asked.push([method, params]);
      if (!(method in answers)) throw new Error(`refused ${method}`);
      return answers[method];
    },
  };
  const [port, view] = [new ViewPort<ToChat>(), sink<ToChat>()];
  port.open(view);
  const kept: string[] = [];
  const changes: object[] = [];
  const memory = { get: () => undefined, set: (key: string) => void kept.push(key) };
  const it = new ChatSession(
    gateway as unknown as GatewayClient,
    port,
    memory,
    (change) => changes.push(change),
    () => folder,
  );
  return {
    gateway,
    changes,
    asked,
    heard: view.heard,
    take: (message: FromChat) => it.handle(message),
    tell: () => listener,
    kept,
  };
}

test("send goes to the gateway as chat.send, abort as chat.abort", async () => {
  const { asked, heard, take } = talking({ "chat.send": { runId: "r" }, "chat.abort": {} });
  await take({ type: "send", text: "Hello", runId: "r", id: 1 });
  await take({ type: "abort" });
  expect(asked).toEqual([
    ["chat.send", { sessionKey: "agent:main:main", message: "Hello", idempotencyKey: "r" }],
    ["chat.abort", { sessionKey: "agent:main:main", runId: "r" }],
  ]);
  expect(heard).toEqual([{ type: "answer", id: 1, ok: true, payload: { runId: "r" } }]);
});

test("an abort is about the run that the gateway named, and about none once that has ended", async () => {
  const { asked, take, tell } = talking({ "chat.send": { runId: "theirs" }, "chat.abort": {} });
  await take({ type: "send", text: "Hello", runId: "ours" });
  await take({ type: "abort" });
  tell().event?.({ event: "agent", payload: { kind: "done", stopReason: "end_turn", runId: "theirs" } });
  await take({ type: "abort" });
  expect(asked.slice(1)).toEqual([
    ["chat.abort", { sessionKey: "agent:main:main", runId: "theirs" }],
    ["chat.abort", { sessionKey: "agent:main:main" }],
  ]);
});

test("another conversation: loading, then its past; it is remembered, and later words go there", async () => {
  const { asked, heard, take, kept } = talking({ "chat.history": { messages: ["m"] }, "chat.send": {} });
  await take({ type: "switch_session", key: "acp:1" });
  await take({ type: "send", text: "x", runId: "r" });
  expect(heard).toEqual([{ type: "history_loading" }, { type: "history", messages: ["m"] }]);
  expect(asked[1]).toMatchObject(["chat.send", { sessionKey: "acp:1" }]);
  expect(kept).toEqual(["acp:1"]);
});

test("the sessions are told when they are asked for", async () => {
  const { heard, take } = talking({ "sessions.list": { sessions: ["s"] } });
  await take({ type: "request_sessions" });
  expect(heard).toEqual([{ type: "sessions", sessions: ["s"] }]);
});

test("what the gateway refuses is an error to show", async () => {
  const { heard, take } = talking();
  await take({ type: "send", text: "x", id: 4 });
  expect(heard).toEqual([
    { type: "answer", id: 4, ok: false, message: "refused chat.send" },
    { type: "error", message: "refused chat.send" },
  ]);
});

test("a view asks for nothing but what is on its list", async () => {
  const { asked, heard, take } = talking({ "chat.inject": {} });
  await take({ type: "request", id: 1, method: "chat.inject", params: {} });
  expect([asked, heard]).toEqual([[], [{ type: "answer", id: 1, ok: false, message: "chat.inject: not for a view" }]]);
});

test("each change of the connection is told", () => {
  const { gateway, heard, tell } = talking();
  gateway.state = "error";
  tell().state?.("error");
  expect(heard).toEqual([{ type: "connection_state", state: "error" }]);
});

test("a window's chat is about its folder, known before the view is connected; so is what is begun there", async () => {
  const answers = {
    "dragoman.open": { key: "agent:main:folder-1" },
    "sessions.create": { key: "new" },
    "chat.send": {},
  };
  const { asked, heard, take, tell } = talking(answers, "/projects/two");
  tell().state?.("connected");
  await expect
    .poll(() => heard)
    .toEqual([
      { type: "event", event: "dragoman.opened", payload: { key: "agent:main:folder-1" } },
      { type: "connection_state", state: "connected" },
    ]);
  await take({ type: "send", text: "/start orders.py", runId: "r" });
  await take({ type: "request", id: 1, method: "sessions.create", params: {} });
  expect(asked).toEqual([
    ["dragoman.open", { workspace: "/projects/two" }],
    ["chat.send", { sessionKey: "agent:main:folder-1", message: "/start orders.py", idempotencyKey: "r" }],
    ["sessions.create", {}],
    ["dragoman.open", { workspace: "/projects/two", key: "new" }],
  ]);
});

test("a change of a file goes to the chat and to the editor's comparison", () => {
  const { changes, heard, tell } = talking();
  const data = { path: "a.py", original: null, modified: "x" };
  tell().event?.({ event: "agent", payload: { sessionKey: "agent:main:main", runId: "r", stream: "diff", data } });
  expect(heard).toEqual([{ kind: "diff", ...data, runId: "r", toolCallId: "" }]);
  expect(changes).toEqual(heard);
});

function drawing(surfaces: object[]) {
  const posted: [string, unknown][] = [];
  const api = {
    get: async () => ({ surfaces }),
    post: async (path: string, body: unknown) => (posted.push([path, body]), { name: "agreed" }),
  };
  const [port, view] = [new ViewPort<ToCanvas>(), sink<ToCanvas>()];
  port.open(view);
  return {
    posted,
    heard: view.heard,
    it: new CanvasSession(
      () => api as unknown as Api,
      port,
      (words) => words,
    ),
    surfaces,
  };
}

/** As the editor says it. */
const CHINESE = JSON.parse(readFileSync("l10n/bundle.l10n.zh-cn.json", "utf8")) as Record<string, string>;
const SURFACE = {
  drawer: "d",
  surface_id: "s",
  version: 1,
  messages: [{ createSurface: {} }, { updateComponents: {} }, { updateDataModel: {} }],
};

test("a surface is told in the protocol's messages, once a version, and that it is gone", async () => {
  const { heard, it, surfaces } = drawing([SURFACE]);
  await it.read();
  await it.read();
  expect(heard.map((message) => message.type === "a2ui" && Object.keys(message.payload)[0])).toEqual([
    "createSurface",
    "updateComponents",
    "updateDataModel",
  ]);
  expect(heard[2]).toMatchObject({ drawn: { drawer: "d", surface_id: "s", version: 1 } });
  surfaces.length = 0;
  await it.read();
  expect(heard[3]).toEqual({ type: "a2ui", payload: { deleteSurface: { surfaceId: "s" }, drawer: "d" } });
});

test("what changes while the surfaces are read is read again; a daemon that fails once is asked again", async () => {
  const [port, view] = [new ViewPort<ToCanvas>(), sink<ToCanvas>()];
  port.open(view);
  const api = {
    get: vi
      .fn()
      .mockResolvedValueOnce({ surfaces: [] })
      .mockRejectedValueOnce(new Error("away"))
      .mockResolvedValue({ surfaces: [SURFACE] }),
  };
  const it = new CanvasSession(
    () => api as unknown as Api,
    port,
    (words) => words,
  );
  await Promise.all([it.read(), it.read(), it.read()]);
  expect([api.get.mock.calls.length, view.heard.length]).toEqual([2, 0]);
  await it.read();
  expect([api.get.mock.calls.length, view.heard.length]).toEqual([3, SURFACE.messages.length]);
});

test("a click on what is drawn, while there is no daemon, is answered in the person's language", async () => {
  const [port, view] = [new ViewPort<ToCanvas>(), sink<ToCanvas>()];
  port.open(view);
  await new CanvasSession(
    () => undefined,
    port,
    (words) => CHINESE[words] ?? words,
  ).handle({ type: "names", id: 1 });
  expect(view.heard).toEqual([{ type: "answer", id: 1, ok: false, message: "目前未连接到服务器。" }]);
});

test("what a person does on a surface reaches who drew it, and the view is answered", async () => {
  const { posted, heard, it } = drawing([]);
  const of = { drawer: "d", surface_id: "s", component_id: "c", scope: "", changes: [] };
  const context = { componentId: "c", confirmed: true };
  await it.handle({ type: "userAction", action: "onConfirm", context, of, id: 3 });
  expect(posted).toEqual([["/api/canvas/act", { ...of, details: context }]]);
  expect(heard).toEqual([{ type: "answer", id: 3, ok: true, payload: { name: "agreed" } }]);
  await it.handle({ type: "userAction", action: "onConfirm", context, of });
  // As the specification writes it, without a number: done, and not answered.
  expect([posted.length, heard.length]).toEqual([2, 1]);
});

test("a view may load one script and our own sheets, and reach nothing", () => {
  const page = html({
    title: "T",
    language: "zh-cn",
    tag: "x-y",
    script: "s.js",
    style: "s.css",
    source: "https://own",
  });
  const policy = /content="(default-src[^"]+)"/.exec(page)?.[1] ?? "";
  const nonce = /nonce="([\w-]{20,})"/.exec(page)?.[1];
  expect(policy).toBe(
    `default-src 'none'; script-src 'nonce-${nonce}'; style-src https://own; img-src https://own; base-uri 'none'; form-action 'none'`,
  );
  expect(page).toContain('<html lang="zh">');
  expect(
    html({ title: "T", language: "en", tag: "x-y", conversation: `acp:"<1>`, script: "s", style: "s", source: "" }),
  ).toContain('data-conversation="acp:&#34;&#60;1&#62;"');
  expect(page).not.toBe(
    html({ title: "T", language: "zh-cn", tag: "x-y", script: "s.js", style: "s.css", source: "https://own" }),
  );
});
