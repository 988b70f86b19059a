import { beforeEach, expect, test, vi } from "vitest";

const location = { hash: "" };
const pushed: string[] = [];
const browser = new EventTarget();

beforeEach(() => {
  vi.resetModules();
  pushed.length = 0;
  location.hash = "#debugger/debug-1/3";
  vi.stubGlobal("window", browser);
  vi.stubGlobal("location", location);
  vi.stubGlobal("history", {
    pushState: (_state: unknown, _title: string, hash: string) => pushed.push((location.hash = hash)),
    replaceState: (_state: unknown, _title: string, hash: string) => (location.hash = hash),
  });
});

async function started() {
  const { router } = await import("../../src/app/router");
  router.start();
  return router;
}

test("the address names the view and what it shows", async () => {
  const router = await started();
  expect([router.view, router.parts("debugger"), router.parts("chat")]).toEqual(["debugger", ["debug-1", "3"], []]);
});

test("an address without a view, or one that cannot be decoded, is the chat's", async () => {
  location.hash = "";
  expect((await started()).view).toBe("chat");
  location.hash = "#%E0%A4%A";
  expect((await started()).view).toBe("chat");
});

test("where a person goes is an entry of the history, and each only once", async () => {
  const router = await started();
  router.push("chat", "agent:main:x y", "");
  router.push("chat", "agent:main:x y");
  expect(pushed).toEqual(["#chat/agent%3Amain%3Ax%20y"]);
  expect(router.parts("chat")).toEqual(["agent:main:x y"]);
});

test("what a view changes by itself replaces the address, and only while the view is shown", async () => {
  const router = await started();
  router.replace("debugger", "debug-2");
  router.replace("terminals", "t1");
  expect([location.hash, pushed]).toEqual(["#debugger/debug-2", []]);
  expect(router.parts("terminals")).toEqual(["t1"]);
});

test("Back is followed: views hear that they were navigated", async () => {
  const router = await started();
  const heard: string[] = [];
  for (const kind of ["change", "navigated"]) router.addEventListener(kind, () => heard.push(kind));
  location.hash = "#terminals/t1";
  browser.dispatchEvent(new Event("popstate"));
  expect(heard).toEqual(["change", "navigated"]);
  expect(router.parts("terminals")).toEqual(["t1"]);
});
