import { beforeEach, expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { RequestError } from "../../src/link/requests";
import { SettingsController } from "../../src/settings/settingsController";
import { daemon, host, settled } from "../daemon";

const SETTING = { key: "port", value: 8177, waits_for_restart: false };
let controller: SettingsController;

beforeEach(async () => {
  daemon.start({
    "/api/settings": () => ({
      server: { pid: 1 },
      file: "/s.toml",
      settings: [SETTING],
      warnings: ["w"],
      gateway: null,
    }),
  });
  controller = new SettingsController(host() as never);
  controller.hostConnected();
  daemon.listener.reset?.({ sequence: 0, state: {} });
  await settled();
  controller.hostDisconnected();
});

const refused = () => Promise.reject(new RequestError("invalid", "Not a port.", "Choose 0 to 65535."));

test("everything is read at the start, and the settings again after an event", async () => {
  expect([controller.server?.pid, controller.file, controller.warnings]).toEqual([1, "/s.toml", ["w"]]);
  expect(controller.settings.get("port")).toEqual(SETTING);
  controller.hostConnected();
  daemon.listener.events?.([]);
  controller.hostDisconnected();
  await settled();
  expect(daemon.askedFor("/api/settings").length).toBe(2);
});

test("a change shows the value that the daemon took, and whether it waits for a restart", async () => {
  daemon.answers["/api/settings/change"] = ({ value }) => ({
    ...SETTING,
    value: Number(value),
    waits_for_restart: true,
  });
  expect(await controller.change("port", "9000")).toBe("");
  expect(controller.settings.get("port")?.value).toBe(9000);
  expect(controller.waitingForRestart.map(({ key }) => key)).toEqual(["port"]);
});

test("a refused change says why, and changes nothing", async () => {
  daemon.answers["/api/settings/change"] = refused;
  expect(await controller.change("port", "x")).toBe("Not a port. Choose 0 to 65535.");
  expect(controller.settings.get("port")?.value).toBe(8177);
});

test("connecting to the gateway shows its state, or why it was refused", async () => {
  daemon.answers["/api/gateway/connect"] = () => ({ state: "connecting" });
  const connecting = controller.connect();
  expect(controller.isConnecting).toBe(true);
  await connecting;
  expect([controller.isConnecting, controller.gateway?.state]).toEqual([false, "connecting"]);
  daemon.answers["/api/gateway/disconnect"] = refused;
  await controller.disconnect();
  expect(controller.error).toBe("Not a port. Choose 0 to 65535.");
  daemon.answers["/api/gateway/connect"] = () => Promise.reject(new Error("lost")); // the page's frame shows that
  await controller.connect();
  expect([controller.isConnecting, controller.error]).toEqual([false, "Not a port. Choose 0 to 65535."]);
});
