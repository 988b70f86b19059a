/** What the chat view is told of its connection: a reason only where something failed. */
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
  const gateway = new Gateway(() => ({ address: "http://127.0.0.1:1", language: "zh-cn", token: async () => "" }) as unknown as Api);
  gateway.connect();
  await vi.waitFor(() => expect(sent.map(({ method, params }) => [method, params.locale])).toEqual([["connect", "zh-cn"]]));
  gateway.disconnect();
});
