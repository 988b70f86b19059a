/** What the chat view is told of its connection: a reason only where something failed. */
import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";

import type { ChannelListener } from "../../../web/src/link/proof";
import type { Api } from "../../src/daemon/api";
import { GatewayClient } from "../../src/gateway/client";

const view = new EventTarget();
vi.stubGlobal("acquireVsCodeApi", () => ({ postMessage() {} }));
vi.stubGlobal("window", view);
vi.stubGlobal("navigator", { language: "en" });
vi.stubGlobal("document", { documentElement: { dataset: { language: "en" } } });

/** By a name that is no literal: the view is checked with a browser's types, which are not here. */
const VIEW = "../../src/webview/gateway";
interface Viewed {
  gateway: { connected: boolean; reason: string; start(): void };
}

test.each([
  ["connecting", false, ""],
  ["connected", true, ""],
  ["disconnected", false, "The daemon does not respond. Retrying."],
  ["error", false, "Could not reach the daemon after ten attempts. Retrying when the daemon starts."],
])("%s", async (state, isConnected, reason) => {
  const { gateway } = (await import(VIEW)) as Viewed;
  gateway.start();
  view.dispatchEvent(Object.assign(new Event("message"), { data: { type: "connection_state", state } }));
  expect([gateway.connected, gateway.reason]).toEqual([isConnected, reason]);
});

test("what another window says is not the extension's word", async () => {
  const { gateway } = (await import(VIEW)) as Viewed;
  gateway.start();
  const told = (state: string, origin?: string) =>
    view.dispatchEvent(Object.assign(new Event("message"), { data: { type: "connection_state", state }, origin }));
  told("connected");
  told("error", "https://elsewhere.example");
  expect(gateway.connected).toBe(true);
});

/** As the editor says them. */
const CHINESE = JSON.parse(readFileSync("l10n/bundle.l10n.zh-cn.json", "utf8")) as Record<string, string>;
const chinese = (words: string) => CHINESE[words] ?? words;

test("what goes wrong on the way is said in the person's language", async () => {
  vi.useFakeTimers();
  const { api, lines } = dialled(
    (line, { id, method }) => method === "connect" && line.says({ type: "res", id, ok: true }),
  );
  const gateway = new GatewayClient(() => api, chinese);
  await expect(gateway.request("chat.send")).rejects.toThrow("目前未连接到服务器。");
  gateway.connect();
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  lines[0]?.says({ type: "event", event: "connect.challenge" });
  await vi.waitFor(() => expect(gateway.state).toBe("connected"));
  const unanswered = expect(gateway.request("chat.send")).rejects.toThrow(/^服务器在/);
  await vi.advanceTimersByTimeAsync(30_000);
  await unanswered;
  const lost = expect(gateway.request("chat.send")).rejects.toThrow("在得到回答之前连接已断开。");
  gateway.disconnect();
  await lost;
  vi.useRealTimers();
});

test("the gateway is told which language the editor speaks, and no secret", async () => {
  const sent: { method: string; params: { locale?: string; auth?: unknown } }[] = [];
  const { api, lines } = dialled((_, frame) => void sent.push(frame));
  const gateway = new GatewayClient(
    () => api,
    (words) => words,
  );
  gateway.connect();
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  lines[0]?.says({ type: "event", event: "connect.challenge" });
  await vi.waitFor(() =>
    expect(sent.map(({ method, params }) => [method, params.locale, params.auth])).toEqual([
      ["connect", "zh-cn", undefined],
    ]),
  );
  gateway.disconnect();
});

interface Sent {
  id: string;
  method: string;
  params: Record<string, unknown>;
}

/** A daemon that was proved: what is sent to it, and what it says. */
function dialled(heard: (line: { says(frame: object): void }, frame: Sent) => unknown) {
  const lines: { says(frame: object): void }[] = [];
  const openChannel = async (_: string, listener: ChannelListener) => {
    const says = (frame: object) => listener.message(JSON.stringify(frame));
    lines.push({ says });
    return { send: (text: string) => void heard({ says }, JSON.parse(text) as Sent), close: () => undefined };
  };
  return { api: { openChannel, language: "zh-cn" } as unknown as Api, lines };
}
