import { CHINESE } from "./chinese";

export type LanguageChoice = "" | "en" | "zh";

/** The language that the person chose, which the daemon serves with the page; otherwise the browser's. */
export function chosenLanguage(): LanguageChoice {
  const kept = document.documentElement.dataset["language"];
  return kept === "en" || kept === "zh" ? kept : "";
}

export const language: "en" | "zh" =
  chosenLanguage() || (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
export const chinese = language === "zh";

/** The language of dates and times: the browser's own, unless the chosen language is another one. */
export const locale: string | undefined = navigator.language.toLowerCase().startsWith(language) ? undefined : language;

/** A phrase in the reader's language; `{name}` stands for a value. */
export function t(english: string, values: Record<string, string | number> = {}): string {
  const phrase = chinese ? (CHINESE[english] ?? english) : english;
  return phrase.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
