import { beforeEach, expect, test, vi } from "vitest";

type Json = Record<string, unknown>;
type Listener = (event: { event: string; payload: Json }) => void;

const gateway = vi.hoisted(() => ({
  listeners: new Set<Listener>(),
  answers: {} as Record<string, (params: Json) => unknown>,
  requests: [] as [string, Json][],
  connected: true,
  subscribe(listener: Listener) {
    gateway.listeners.add(listener);
    return () => gateway.listeners.delete(listener);
  },
  async request(method: string, params: Json) {
    gateway.requests.push([method, params]);
    return gateway.answers[method]?.(params) ?? {};
  },
}));
vi.mock("../../src/link", async () => ({ ...(await import("../../src/link/unreachable")), gateway }));

import { Unreachable } from "../../src/link/unreachable";
import { Conversation, canonicalKey } from "../../src/chat/conversation";
import { outbox } from "../../src/chat/outbox";

const KEY = "agent:main:main";
let conversation: Conversation;

beforeEach(() => {
  gateway.listeners.clear();
  gateway.requests.length = 0;
  gateway.answers = { "chat.history": () => ({ messages: [] }) };
  conversation = new Conversation(KEY);
  conversation.start();
});

function emit(event: string, payload: Json): void {
  for (const listener of gateway.listeners) listener({ event, payload: { sessionKey: KEY, ...payload } });
}

function stream(runId: string, name: string, data: Json): void {
  emit("agent", { runId, stream: name, data });
}

const texts = () =>
  conversation.messages.map(({ role, parts }) => [
    role,
    ...parts.map((it) => (it.kind === "text" ? it.text : it.kind)),
  ]);

test("the short and the long spelling of a key are one conversation", () => {
  expect(canonicalKey("main")).toBe(KEY);
  expect(canonicalKey(KEY)).toBe(KEY);
});

test("an answer grows with its deltas, and is done with the final state", async () => {
  gateway.answers["chat.send"] = ({ idempotencyKey }) => ({ runId: idempotencyKey });
  await conversation.send("hello");
  const runId = String(gateway.requests[0]![1].idempotencyKey);
  stream(runId, "assistant", { delta: "Hi " });
  stream(runId, "assistant", { delta: "there" });
  expect(texts()).toEqual([
    ["user", "hello"],
    ["assistant", "Hi there"],
  ]);
  expect(conversation.running?.runId).toBe(runId);
  emit("chat", { runId, state: "final", message: { content: "Hi there" } });
  expect(conversation.running).toBeUndefined();
  expect(conversation.messages.at(-1)?.state).toBe("done");
});

test("events of another conversation are ignored", () => {
  emit("agent", { sessionKey: "agent:main:other", runId: "r", stream: "assistant", data: { delta: "x" } });
  expect(conversation.messages).toEqual([]);
});

test("a tool call has its input, its output and its outcome, and a failed run fails it", () => {
  stream("r", "tool", { phase: "start", toolCallId: "t", name: "read", args: { path: "a" } });
  stream("r", "tool", { phase: "result", toolCallId: "t", result: { content: [{ type: "text", text: "42" }] } });
  stream("r", "tool", { phase: "start", toolCallId: "u", name: "read" });
  emit("chat", { runId: "r", state: "error", errorMessage: "out of tokens" });
  const run = conversation.messages.at(-1)!;
  expect(run.parts).toMatchObject([
    { kind: "tool", id: "t", name: "read", input: { path: "a" }, output: "42", state: "done" },
    { kind: "tool", id: "u", state: "failed" },
  ]);
  expect([run.state, run.reason]).toEqual(["failed", "out of tokens"]);
});

test("an edit tool shows the change that it made, once, after its call", () => {
  const args = { path: "a.py", old_string: "a", new_string: "b" };
  stream("r", "tool", { phase: "start", toolCallId: "t", name: "edit", args });
  stream("r", "tool", { phase: "result", toolCallId: "t", result: {} });
  stream("r", "tool", { phase: "result", toolCallId: "t", result: {} });
  expect(conversation.messages.at(-1)?.parts.map(({ kind }) => kind)).toEqual(["tool", "diff"]);
});

test("the whole text of the final state replaces deltas that were lost", () => {
  stream("r", "assistant", { delta: "be" });
  emit("chat", { runId: "r", state: "final", message: { content: "beginning and end" } });
  expect(texts().at(-1)).toEqual(["assistant", "beginning and end"]);
});

test("a run of another client of which only the end arrives is read from the history", async () => {
  gateway.answers["chat.history"] = () => ({
    messages: [
      { role: "user", content: "hello", runId: "r" },
      { role: "assistant", content: "hi", runId: "r" },
    ],
  });
  emit("chat", { runId: "r", state: "final", message: { content: "hi" } });
  await vi.waitFor(() =>
    expect(texts()).toEqual([
      ["user", "hello"],
      ["assistant", "hi"],
    ]),
  );
});

test("the history has questions, answers and tool results; a question at its end is unanswered", async () => {
  gateway.answers["chat.history"] = () => ({
    messages: [
      { role: "user", content: "first", timestamp: 1 },
      {
        role: "assistant",
        content: [
          { type: "text", text: "looking" },
          { type: "toolCall", id: "t", name: "read", arguments: {} },
        ],
      },
      { role: "toolResult", toolCallId: "t", isError: true, content: "no such file" },
      { role: "user", content: "second" },
    ],
  });
  await conversation.read();
  expect(texts()).toEqual([
    ["user", "first"],
    ["assistant", "tool", "looking"],
    ["user", "second"],
  ]);
  expect(conversation.messages[1]!.parts[0]).toMatchObject({ output: "no such file", state: "failed" });
  expect(conversation.messages[2]!.state).toBe("unanswered");
  expect(conversation.prompts).toEqual(["first", "second"]);
});

test("a run that is in flight is adopted with its text, and goes on", async () => {
  gateway.answers["chat.history"] = () => ({
    messages: [{ role: "user", content: "go" }],
    inFlightRun: { runId: "r", text: "so far" },
  });
  await conversation.read();
  expect(texts().at(-1)).toEqual(["assistant", "so far"]);
  expect(conversation.running?.runId).toBe("r");
});

test("a message that could not be sent comes back, and is the same message when it is sent again", async () => {
  const unsent: string[] = [];
  conversation.addEventListener("unsent", (event) => unsent.push((event as CustomEvent<string>).detail));
  gateway.answers["chat.send"] = () => {
    throw new Unreachable("away");
  };
  await expect(conversation.send("hello")).rejects.toThrow("away");
  expect(unsent).toEqual(["hello"]);
  expect(conversation.messages).toEqual([]);
  const first = outbox.kept(KEY)!.id;
  gateway.answers["chat.send"] = () => ({ runId: "r" });
  await conversation.send("hello");
  expect(gateway.requests.filter(([method]) => method === "chat.send").map(([, it]) => it.idempotencyKey)).toEqual([
    first,
    first,
  ]);
  expect(outbox.kept(KEY)).toBeNull();
});

test("a message that was refused is new when it is sent again", async () => {
  gateway.answers["chat.send"] = () => {
    throw new Error("refused");
  };
  await expect(conversation.send("hello")).rejects.toThrow("refused");
  expect(outbox.kept(KEY)).toBeNull();
});
