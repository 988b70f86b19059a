/** The tables of what the chat view receives. */
import { expect, test } from "vitest";

import { chatMessageOf } from "../../src/gateway/chatMessages";

const KEY = "agent:main:main";
const agent = (stream: string, data: object, sessionKey = KEY) => ({
  event: "agent",
  payload: { sessionKey, runId: "r", stream, data },
});
const chat = (payload: object) => ({ event: "chat", payload: { sessionKey: KEY, runId: "r", ...payload } });

test("text as it comes", () => {
  expect(chatMessageOf(agent("assistant", { delta: "Hel", itemId: "i" }), KEY)).toEqual({
    kind: "text_delta",
    content: "Hel",
    runId: "r",
    itemId: "i",
  });
});

test("a tool that begins, and its end, well or not", () => {
  const begun = { phase: "start", toolCallId: "t", name: "readFile", title: "Reading", args: { path: "a" } };
  expect(chatMessageOf(agent("tool", begun), KEY)).toEqual({
    kind: "tool_start",
    id: "t",
    tool: "readFile",
    title: "Reading",
    input: { path: "a" },
    runId: "r",
  });
  const result = { content: [{ type: "text", text: "whole" }] };
  expect(chatMessageOf(agent("tool", { phase: "result", toolCallId: "t", result }), KEY)).toEqual({
    kind: "tool_result",
    id: "t",
    output: "whole",
    error: null,
    runId: "r",
  });
  expect(chatMessageOf(agent("tool", { phase: "result", toolCallId: "t", result, isError: true }), KEY)).toMatchObject({
    error: "whole",
  });
  expect(chatMessageOf(agent("tool", { phase: "update", toolCallId: "t" }), KEY)).toBeUndefined();
});

test("a tool's title comes from the other side of the same call, as real gateways tell it", () => {
  const item = {
    itemId: "tool:t",
    phase: "start",
    kind: "tool",
    title: "read a.ts",
    status: "running",
    name: "read",
    toolCallId: "t",
  };
  expect(chatMessageOf(agent("item", item), KEY)).toEqual({
    kind: "tool_update",
    id: "t",
    tool: "read",
    title: "read a.ts",
    runId: "r",
  });
  expect(chatMessageOf(agent("item", { ...item, phase: "end" }), KEY)).toBeUndefined();
  expect(chatMessageOf(agent("item", { ...item, title: undefined }), KEY)).toBeUndefined();
  expect(chatMessageOf(agent("item", { ...item, toolCallId: undefined }), KEY)).toBeUndefined();
});

test("a change of a file; one that is new has no original", () => {
  const change = { path: "a.ts", original: "old", modified: "new" };
  expect(chatMessageOf(agent("diff", change), KEY)).toEqual({ kind: "diff", ...change, runId: "r", toolCallId: "" });
  expect(chatMessageOf(agent("diff", { ...change, original: null }), KEY)).toMatchObject({ original: null });
});

test.each([
  [
    { state: "final", message: { content: "all" } },
    { stopReason: "end_turn", text: "all" },
  ],
  [{ state: "aborted" }, { stopReason: "aborted" }],
  [{ state: "error", errorMessage: "no model" }, { stopReason: "no model" }],
])("the end of an answer: %j", (payload, wanted) => {
  expect(chatMessageOf(chat(payload), KEY)).toMatchObject({ kind: "done", runId: "r", ...wanted });
});

test.each([
  [{ kind: "text_delta", content: "Hel" }, {}],
  [{ kind: "tool_start", id: "t", tool: "readFile", title: "Reading", input: { path: "a" } }, {}],
  [{ kind: "tool_update", id: "t", tool: "readFile", title: "Reading a" }, {}],
  [{ kind: "tool_result", id: "t", output: "whole", error: null }, {}],
  [{ kind: "diff", path: "a.ts", original: null, modified: "new" }, { toolCallId: "" }],
  [{ kind: "done", stopReason: "end_turn" }, {}],
])("a gateway of the specification names the kind itself: %j", (told, more) => {
  expect(chatMessageOf({ event: "agent", payload: { ...told, runId: "r" } }, KEY)).toEqual({
    ...told,
    ...more,
    runId: "r",
  });
  expect(chatMessageOf({ event: "agent", payload: { ...told, sessionKey: "acp:other" } }, KEY)).toBeUndefined();
});

test("batches, other conversations and streams that are not shown are left out", () => {
  expect(chatMessageOf(chat({ state: "delta" }), KEY)).toBeUndefined();
  expect(chatMessageOf(agent("assistant", { delta: "x" }, "agent:main:other"), KEY)).toBeUndefined();
  expect(chatMessageOf(agent("lifecycle", {}), KEY)).toBeUndefined();
});

test("what is about the whole gateway is passed on as it is", () => {
  expect(chatMessageOf({ event: "sessions.changed", payload: { a: 1 } }, KEY)).toEqual({
    type: "event",
    event: "sessions.changed",
    payload: { a: 1 },
  });
});
