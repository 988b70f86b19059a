/** What the chat view is told of its connection: a reason only where something failed. */
import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";

import type { Api } from "../src/daemon/api";
import { Gateway } from "../src/gateway/client";

const view = new EventTarget();
vi.stubGlobal("acquireVsCodeApi", () => ({ postMessage() {} }));
vi.stubGlobal("window", view);
vi.stubGlobal("localStorage", { getItem: () => "en" });

/** By a name that is no literal: the view is checked with a browser's types, which are not here. */
const VIEW = "../src/webview/gateway";
interface Viewed {
  gateway: { connected: boolean; reason: string; begin(): void };
}

test.each([
  ["connecting", false, ""],
  ["connected", true, ""],
  ["disconnected", false, "The daemon does not answer; it is tried again."],
  ["error", false, "The daemon does not answer; it is tried again."],
])("%s", async (state, isConnected, reason) => {
  const { gateway } = (await import(VIEW)) as Viewed;
  gateway.begin();
  view.dispatchEvent(Object.assign(new Event("message"), { data: { type: "connection_state", state } }));
  expect([gateway.connected, gateway.reason]).toEqual([isConnected, reason]);
});

/** As the editor says them. */
const CHINESE = JSON.parse(readFileSync("l10n/bundle.l10n.zh-cn.json", "utf8")) as Record<string, string>;
const chinese = (words: string) => CHINESE[words] ?? words;

test("what goes wrong on the way is said in the person's language", async () => {
  vi.useFakeTimers();
  const sockets: { onmessage?: (message: { data: string }) => void; onclose?: () => void }[] = [];
  class Socket {
    onclose?: () => void;
    constructor() {
      sockets.push(this);
    }
    send(text: string): void {
      const { id, method } = JSON.parse(text) as { id: string; method: string };
      if (method === "connect") sockets[0]?.onmessage?.({ data: JSON.stringify({ type: "res", id, ok: true }) });
    }
    close(): void {}
  }
  vi.stubGlobal("WebSocket", Socket);
  const gateway = new Gateway(() => ({ address: "http://127.0.0.1:1", language: "zh-cn", token: async () => "" }) as unknown as Api, chinese);
  await expect(gateway.request("chat.send")).rejects.toThrow("目前未连接到服务器。");
  gateway.connect();
  sockets[0]?.onmessage?.({ data: '{"type": "event", "event": "connect.challenge"}' });
  await vi.waitFor(() => expect(gateway.state).toBe("connected"));
  const unanswered = expect(gateway.request("chat.send")).rejects.toThrow(/^服务器在/);
  await vi.advanceTimersByTimeAsync(30_000);
  await unanswered;
  const lost = expect(gateway.request("chat.send")).rejects.toThrow("在得到回答之前连接已断开。");
  gateway.disconnect();
  await lost;
  vi.useRealTimers();
});

test("the gateway is told which language the editor speaks", async () => {
  const sent: { method: string; params: { locale?: string } }[] = [];
  class Socket {
    onmessage?: (message: { data: string }) => void;
    constructor() {
      queueMicrotask(() => this.onmessage?.({ data: '{"type": "event", "event": "connect.challenge"}' }));
    }
    send(text: string): void {
      sent.push(JSON.parse(text) as (typeof sent)[number]);
    }
    close(): void {}
  }
  vi.stubGlobal("WebSocket", Socket);
  const gateway = new Gateway(() => ({ address: "http://127.0.0.1:1", language: "zh-cn", token: async () => "" }) as unknown as Api, (words) => words);
  gateway.connect();
  await vi.waitFor(() => expect(sent.map(({ method, params }) => [method, params.locale])).toEqual([["connect", "zh-cn"]]));
  gateway.disconnect();
});
