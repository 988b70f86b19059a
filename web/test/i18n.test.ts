import { afterEach, expect, test, vi } from "vitest";

async function load(chosen: string, browser: string) {
  vi.resetModules();
  vi.stubGlobal("document", { documentElement: { dataset: { language: chosen } } });
  vi.stubGlobal("navigator", { language: browser });
  return import("../src/i18n/t");
}

afterEach(() => {
  vi.stubGlobal("document", { documentElement: { dataset: { language: "en" } } });
  vi.stubGlobal("navigator", { language: "en-GB" });
});

test("values stand in place of their names, and a name without a value stays", async () => {
  const { t } = await load("en", "en-GB");
  expect(t("{count} of {total}: {name}", { count: 1, total: 2 })).toBe("1 of 2: {name}");
});

test("the language that a person chose wins over the browser's", async () => {
  expect((await load("zh", "en-GB")).language).toBe("zh");
  expect((await load("en", "zh-CN")).language).toBe("en");
});

test("without a choice it is the browser's, and one that is not known is English", async () => {
  expect((await load("", "zh-TW")).language).toBe("zh");
  expect((await load("", "de")).language).toBe("en");
  expect((await load("fr", "de")).language).toBe("en");
});

test("Chinese phrases come from the table, and a phrase without Chinese stays as it is", async () => {
  const { t } = await load("zh", "zh-CN");
  expect(t("Settings")).toBe("设置");
  expect(t("no such phrase {n}", { n: 3 })).toBe("no such phrase 3");
});
