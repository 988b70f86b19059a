/**
 * Highlighted code outside of the editor, for blocks in the chat, on the canvas and in evidence. Whoever shows it adds
 * `tokenStyles` to its own styles. Code is plain text until the parsers are loaded.
 */
import { highlightTree } from "@lezer/highlight";
import { html } from "lit";
import { until } from "lit/directives/until.js";
import { languageOf, loadParsers, loadedParser, type Language } from "./languages";
import { tokenClasses } from "./tokens";

export { languageOf } from "./languages";
export { tokenStyles } from "./tokens";

export interface Token {
  text: string;
  /** Empty for what is not coloured. */
  classes: string;
}

/** Longer code would be parsed noticeably long; it stays plain. */
const LONGEST = 100_000;
const KEPT = 50;
const kept = new Map<string, Token[][]>();

/** A block of code. `language` is a language, the ending of a file or the word above a block: `python`, `py`, `c++`. */
export function highlighted(code: string, language: string): unknown {
  const lines = highlightedLines(code, language);
  return lines.map((line, index) => (index ? html` ${line}` : line));
}

/** Each line by itself, for lists of lines. */
export function highlightedLines(code: string, language: string): unknown[] {
  const known = languageOf(language);
  const lines = code.split("\n");
  if (!known || code.length > LONGEST) return lines;
  if (loadedParser(known)) return tokenLines(code, known).map(renderTokens);
  const tokens = loadParsers().then(() => tokenLines(code, known));
  return lines.map((line, index) =>
    until(
      tokens.then((them) => renderTokens(them[index]!)),
      line,
    ),
  );
}

function renderTokens(tokens: readonly Token[]): unknown {
  return tokens.map(({ text, classes }) => (classes ? html`<span class=${classes}>${text}</span>` : text));
}

/** The tokens of each line, once the parsers are loaded. */
export function tokenLines(code: string, language: Language): Token[][] {
  const key = `${language}\n${code}`;
  const lines = kept.get(key) ?? parseLines(code, language);
  kept.delete(key); // the newest is the last
  kept.set(key, lines);
  for (const oldest of kept.keys()) if (kept.size > KEPT) kept.delete(oldest);
  return lines;
}

function parseLines(code: string, language: Language): Token[][] {
  const lines: Token[][] = [[]];
  const add = (text: string, classes: string) =>
    text.split("\n").forEach((part, index) => {
      if (index) lines.push([]);
      if (part) lines.at(-1)!.push({ text: part, classes });
    });
  let end = 0;
  highlightTree(loadedParser(language)!.parse(code), tokenClasses, (from, to, classes) => {
    add(code.slice(end, from), "");
    add(code.slice(from, to), classes);
    end = to;
  });
  add(code.slice(end), "");
  return lines;
}
