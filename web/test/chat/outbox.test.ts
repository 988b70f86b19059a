import { expect, test } from "vitest";
import { drafts } from "../../src/chat/drafts";
import { outbox } from "../../src/chat/outbox";

test("what was sent is kept for its conversation until it is cleared", () => {
  const unsent = { text: "hello", id: "1", isGivenBack: false };
  outbox.put("main", unsent);
  expect(outbox.kept("main")).toEqual(unsent);
  expect(outbox.kept("other")).toBeNull();
  outbox.clear("main");
  expect(outbox.kept("main")).toBeNull();
});

test("an entry that cannot be read is none", () => {
  sessionStorage.setItem("sending main", "half {");
  expect(outbox.kept("main")).toBeNull();
});

test("a draft is kept by conversation, and an empty one is removed", () => {
  drafts.put("main", "written");
  expect([drafts.of("main"), drafts.of("other")]).toEqual(["written", ""]);
  drafts.put("main", "");
  expect(sessionStorage.getItem("draft main")).toBeNull();
});

test("what comes back is put before what was written meanwhile", () => {
  drafts.put("main", "later");
  drafts.putBefore("main", "earlier");
  expect(drafts.of("main").startsWith("earlier")).toBe(true);
  expect(drafts.of("main").endsWith("later")).toBe(true);
});
