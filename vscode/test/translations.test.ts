/** Every sentence has its Chinese, and no sentence is left over. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(path, "utf8");
const json = (path: string) => JSON.parse(read(path)) as Record<string, string>;
/** The views use the page's own tables. */
const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.startsWith("webview"))
  .map((path) => read(join("src", path)))
  .join("\n");

test("what the manifest says stands in both languages, and nothing else does", () => {
  const used = new Set([...read("package.json").matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key));
  const [english, chinese] = [json("package.nls.json"), json("package.nls.zh-cn.json")];
  expect(Object.keys(english).sort()).toEqual([...used].sort());
  expect(Object.keys(chinese).sort()).toEqual([...used].sort());
});

test("what the extension says stands in Chinese, and nothing else does", () => {
  const said = new Set([...sources.matchAll(/\bt\(\s*"((?:[^"\\]|\\.)+)"/g)].map(([, words]) => words));
  expect(Object.keys(json("l10n/bundle.l10n.zh-cn.json")).sort()).toEqual([...said].sort());
});

test("a translation has the places of its sentence", () => {
  for (const [english, chinese] of Object.entries(json("l10n/bundle.l10n.zh-cn.json")))
    expect(chinese.match(/\{\d\}/g)?.sort()).toEqual(english.match(/\{\d\}/g)?.sort());
});
