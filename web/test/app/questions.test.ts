import { beforeEach, expect, test, vi } from "vitest";

const { surfaces, waiting, decided } = vi.hoisted(() => ({
  surfaces: [] as object[],
  waiting: [] as object[],
  decided: [] as unknown[],
}));
vi.mock("../../src/link", async () => (await import("../daemon")).link);
vi.mock("../../src/canvas/notifications", () => ({ canvasNotifications: { open: surfaces } }));
vi.mock("../../src/chat/approvals", () => ({
  approvals: { waiting, decide: async (...given: unknown[]) => void decided.push(given) },
}));
vi.mock("../../src/parts/actors", () => ({ actorName: (id: string) => id }));

import { allQuestions, decide, desktopNotices, openQuestions } from "../../src/app/questions";

class FakeNotification extends EventTarget {
  static permission = "granted";
  static shown: string[] = [];
  constructor(text: string) {
    super();
    FakeNotification.shown.push(text);
  }
}

beforeEach(() => {
  surfaces.length = waiting.length = decided.length = 0;
  FakeNotification.shown = [];
  vi.stubGlobal("Notification", FakeNotification);
});

test("questions of the canvas and approvals are one list, without what is before one's eyes", () => {
  surfaces.push({ drawer: "raw", surface_id: "q", title: "Which port?" });
  waiting.push(
    { id: "1", tool: "run", subject: "make", kind: "tool" },
    { id: "2", tool: "run", subject: "/w", kind: "trust" },
  );
  expect(allQuestions().map(({ text, isYesOrNo }) => [text, isYesOrNo])).toEqual([
    ["raw asks: Which port?", false],
    ["An agent wants to use run:", true],
    ["May programs in this folder run? An agent wants to use run.", false],
  ]);
  expect(openQuestions("chat").map(({ id }) => id)).toEqual(["canvas/raw/q"]);
  expect(openQuestions("activity").length).toBe(3);
});

test("an approval is decided by its id", async () => {
  waiting.push({ id: "7", tool: "run", subject: "make" });
  await decide(allQuestions()[0]!, "deny");
  expect(decided).toEqual([["7", "deny"]]);
});

test("a desktop notification is shown once for a new question, and only while the person is elsewhere", () => {
  const focus = vi.fn(() => false);
  vi.stubGlobal("document", { ...document, hasFocus: focus });
  surfaces.push({ drawer: "raw", surface_id: "old", title: "Old" });
  desktopNotices.update(allQuestions());
  expect(FakeNotification.shown).toEqual([]);
  surfaces.push({ drawer: "raw", surface_id: "new", title: "New" });
  desktopNotices.update(allQuestions());
  desktopNotices.update(allQuestions());
  expect(FakeNotification.shown).toEqual(["raw asks: New"]);
  focus.mockReturnValue(true);
  surfaces.push({ drawer: "raw", surface_id: "third", title: "Third" });
  desktopNotices.update(allQuestions());
  expect(FakeNotification.shown.length).toBe(1);
});
