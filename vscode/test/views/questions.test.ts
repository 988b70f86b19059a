/** Who asks what is told once, and the answer is confirmed; what an agent calls itself is text. */
import { expect, test } from "vitest";
import type { Api } from "../../src/daemon/api";
import { Questions } from "../../src/views/questions";

const words = (text: string, ...values: unknown[]) =>
  text.replace(/\{(\d)\}/g, (_, index) => String(values[Number(index)]));

function told(surfaces: object[], names: Record<string, string> = {}) {
  const asked: string[] = [];
  const confirmed: string[] = [];
  const api = { get: async (path: string) => (path === "/api/names" ? { names } : { surfaces }) } as unknown as Api;
  const questions = new Questions(
    () => api,
    words,
    async (it) => void asked.push(it),
    (it) => confirmed.push(it),
  );
  return { questions, asked, confirmed };
}

const DRAWN = { kind: "canvas.surface_updated" };
const QUESTION = { drawer: "mcp-1", surface_id: "ask-1", title: "Which port?", asking: "open" };

test("a question is told once with its agent's name, and so is its answer", async () => {
  const { questions, asked, confirmed } = told([QUESTION], { "mcp-1": "Claude" });
  expect(await questions.handleEvents([DRAWN])).toBe(true);
  expect(await questions.handleEvents([DRAWN])).toBe(false);
  expect(asked).toEqual(["A question for you. Claude: Which port?"]);
  const answer = { drawer: "mcp-1", surface: "ask-1", context: { values: { n: 1 } } };
  await questions.handleEvents([{ kind: "canvas.action_taken", body: answer }]);
  await questions.handleEvents([{ kind: "canvas.action_taken", body: answer }]);
  expect(confirmed).toEqual(["You answered. Claude: Which port?"]);
});

test("one that was asked before anybody watched is told when somebody does, once", async () => {
  const { questions, asked } = told([QUESTION]);
  expect(await questions.readNew()).toBe(true);
  expect(await questions.handleEvents([DRAWN])).toBe(false);
  expect(asked).toEqual(["A question for you. an agent: Which port?"]);
});

test("one that is closed without an answer is told as such", async () => {
  const { questions, confirmed } = told([QUESTION]);
  await questions.handleEvents([DRAWN]);
  await questions.handleEvents([
    { kind: "canvas.action_taken", body: { drawer: "mcp-1", surface: "ask-1", context: {} } },
  ]);
  expect(confirmed).toEqual(["You closed the question. an agent: Which port?"]);
});

test("a drawing is no question, and what nobody asked is not confirmed", async () => {
  const { questions, asked, confirmed } = told([{ ...QUESTION, asking: "no" }]);
  expect(await questions.handleEvents([DRAWN])).toBe(false);
  await questions.handleEvents([{ kind: "canvas.action_taken", body: { drawer: "mcp-1", surface: "ask-1" } }]);
  expect([...asked, ...confirmed]).toEqual([]);
});

test("neither a name nor a question makes a link or hides anything", async () => {
  const { questions, asked } = told([{ ...QUESTION, title: "[run](command:evil)\u202e" + "x".repeat(5000) }], {
    "mcp-1": "A\u200bB",
  });
  await questions.handleEvents([DRAWN]);
  expect(asked[0]).not.toContain("](");
  expect(asked[0]).toContain("\\u{202e}");
  expect(asked[0]).toContain("A\\u{200b}B");
  expect(asked[0]!.length).toBeLessThan(600);
});
