import { expect, test } from "vitest";

import type { Status } from "../../src/daemon/status";
import { statusText } from "../../src/server/statusText";

const t = (template: string, ...values: (string | number)[]) =>
  template.replace(/\{(\d)\}/g, (_, index) => String(values[Number(index)]));
const status: Status = {
  version: "1",
  pid: 2,
  address: "http://127.0.0.1:8177",
  port: 8177,
  wanted_port: 8177,
  workspace: "/w",
  started_at: "",
  sessions: [],
};

test("running: the port, and how much lives in it", () => {
  expect(statusText({ state: "running", status }, undefined, t).text).toBe("$(server-process) Dragoman 8177");
  const lives = [
    { id: "d1", kind: "debug", title: "app.py" },
    { id: "d2", kind: "debug", title: "b.py" },
  ];
  const { text, tooltip } = statusText({ state: "running", status: { ...status, sessions: lives } }, undefined, t);
  expect(text).toBe("$(server-process) Dragoman 8177 · 2");
  expect(tooltip.split("\n")).toEqual([
    "The server is running on port 8177, version 1",
    "Started for /w",
    "Live sessions: 2",
    "· debugging app.py",
    "· debugging b.py",
  ]);
});

test("what lives in it is named by its kind, in the person's language", () => {
  const chinese = (template: string, ...values: (string | number)[]) =>
    ({ "debugging {0}": `调试 ${values[0]}`, "terminal {0}": `终端 ${values[0]}` })[template] ?? template;
  const sessions = [
    { id: "d1", kind: "debug", title: "app.py" },
    { id: "t1", kind: "terminal", title: "make" },
  ];
  expect(
    statusText({ state: "running", status: { ...status, sessions } }, undefined, chinese)
      .tooltip.split("\n")
      .slice(-2),
  ).toEqual(["· 调试 app.py", "· 终端 make"]);
});

test("a port that was taken is named", () => {
  expect(statusText({ state: "running", status: { ...status, port: 8200 } }, undefined, t).tooltip).toContain(
    "Port 8177 was in use",
  );
});

test("a command that is missing is said to be, where nothing runs", () => {
  expect(statusText({ state: "stopped" }, undefined, t, true).tooltip).toBe("dragoman is not installed");
  expect(statusText({ state: "running", status }, undefined, t, true).tooltip).toContain("running on port 8177");
});

test.each([
  ["stopped", undefined, "$(circle-slash) Dragoman", "The server is not running", false],
  ["unknown", undefined, "$(sync~spin) Dragoman", "Looking for the server", false],
  ["stopped", "looking", "$(sync~spin) Dragoman", "Looking for the server", false],
  ["silent", undefined, "$(warning) Dragoman", "The server does not respond", true],
  ["stopped", "starting", "$(sync~spin) Dragoman", "Starting the server", false],
  ["stopped", "ending", "$(sync~spin) Dragoman", "Stopping the server", false],
] as const)("%s while %s", (state, doing, text, tooltip, isWarning) => {
  expect(statusText({ state }, doing, t)).toEqual({ text, tooltip, isWarning });
});

test("a server that was there all along is shown as soon as it is seen", () => {
  expect(statusText({ state: "running", status }, "looking", t).text).toBe("$(server-process) Dragoman 8177");
});
