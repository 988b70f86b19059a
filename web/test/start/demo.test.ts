import { beforeEach, expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { RequestError } from "../../src/link/requests";
import { Unreachable } from "../../src/link/unreachable";
import { demo } from "../../src/start/demo";
import { demoEndText } from "../../src/start/demoText";
import { daemon, settled } from "../daemon";

const listener = daemon.listener;

beforeEach(() => demo.close());

const line = (kind: string, text: string) => `${JSON.stringify({ kind, text })}\n`;
const stop = (workspace: string) =>
  listener.events?.([{ sequence: 1, at_ns: 1, event: { kind: "debug.stopped", session: "s1", workspace } }]);

test("lines are read however they are cut, and the end is what the agent concluded", async () => {
  const whole = line("folder", "/tmp/d") + line("heading", "1. Look") + line("thinks", "a list") + line("done", "12");
  daemon.stream = async function* () {
    for (const letter of whole) yield letter;
  };
  await demo.start();
  expect(demo.state).toBe("done");
  expect(demo.latestHeading).toBe("1. Look");
  expect(demoEndText(demo)).toBe("The agent found the bug in 12 seconds. a list");
});

test("the first stop in its folder is where the page goes, and only that one", async () => {
  const stopped = vi.fn();
  demo.addEventListener("stopped", stopped);
  let end = () => {};
  daemon.stream = async function* () {
    yield line("folder", "/tmp/d");
    await new Promise<void>((settle) => (end = settle));
    yield line("done", "3");
  };
  const running = demo.start();
  await settled();
  stop("/elsewhere");
  expect([demo.session, stopped.mock.calls.length]).toEqual(["", 0]);
  stop("/tmp/d");
  stop("/tmp/d");
  expect([demo.session, stopped.mock.calls.length]).toEqual(["s1", 1]);
  end();
  await running;
});

test("a demo that was refused or lost says so, and one that a person stopped says nothing", async () => {
  daemon.stream = () => {
    throw new RequestError("demo_runs", "The demo is running already.", "");
  };
  await demo.start();
  expect([demo.state, demoEndText(demo)]).toEqual(["failed", "The demo is running already."]);
  daemon.stream = () => {
    throw new Unreachable();
  };
  await demo.start();
  expect([demo.state, demoEndText(demo)]).toEqual(["failed", "The demo did not finish."]);
  daemon.stream = async function* (signal) {
    yield line("folder", "/tmp/d");
    await new Promise((_, fail) => signal.addEventListener("abort", () => fail(new Unreachable())));
  };
  const running = demo.start();
  await settled();
  demo.stop();
  await running;
  expect([demo.state, demo.lines]).toEqual(["none", []]);
});
