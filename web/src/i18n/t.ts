import { CHINESE } from "./chinese";

export const chinese = navigator.language.toLowerCase().startsWith("zh");

/** A phrase in the reader's language; `{name}` stands for a value. */
export function t(english: string, values: Record<string, string | number> = {}): string {
  const phrase = chinese ? (CHINESE[english] ?? english) : english;
  return phrase.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
