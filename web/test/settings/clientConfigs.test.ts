import { beforeEach, expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { RequestError } from "../../src/link/requests";
import { clientConfigs } from "../../src/settings/clientConfigs";
import { daemon } from "../daemon";

const PLAN = { path: "/c.json", change: "added", lines: ["@@", '+"dragoman"'] };

beforeEach(() => {
  clientConfigs.dismiss("cursor");
  daemon.start({
    "/api/settings/clients": () => ({ clients: [{ id: "cursor", configured: true }] }),
    "/api/settings/clients/plan": () => PLAN,
    "/api/settings/clients/write": () => ({ change: "added", messages: ["Cursor: added to /c.json."] }),
  });
});

test("nothing is written before the change was shown, and then exactly that change", async () => {
  await clientConfigs.write("cursor");
  expect(daemon.askedFor("/api/settings/clients/write")).toEqual([]);
  await clientConfigs.plan("cursor");
  expect(clientConfigs.notice("cursor").plan).toEqual(PLAN);
  await clientConfigs.write("cursor");
  expect(daemon.askedFor("/api/settings/clients/write")).toEqual([{ client: "cursor", lines: PLAN.lines }]);
  expect(clientConfigs.notice("cursor").messages).toEqual(["Cursor: added to /c.json."]);
  expect(clientConfigs.clients[0]?.configured).toBe(true);
});

test("a refusal is shown at its client", async () => {
  daemon.answers["/api/settings/clients/plan"] = () =>
    Promise.reject(new RequestError("no_file", "No file.", "Paste it."));
  await clientConfigs.plan("cursor");
  expect(clientConfigs.notice("cursor")).toEqual({ error: "No file. Paste it." });
  expect(clientConfigs.notice("codex")).toEqual({});
});
