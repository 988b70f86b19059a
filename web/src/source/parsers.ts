/** The grammars of the languages that we debug, and of files that lie beside programs. */
import { StreamLanguage } from "@codemirror/language";
import { cppLanguage } from "@codemirror/lang-cpp";
import { goLanguage } from "@codemirror/lang-go";
import { javascriptLanguage, jsxLanguage, tsxLanguage, typescriptLanguage } from "@codemirror/lang-javascript";
import { jsonLanguage } from "@codemirror/lang-json";
import { pythonLanguage } from "@codemirror/lang-python";
import { rustLanguage } from "@codemirror/lang-rust";
import { diff } from "@codemirror/legacy-modes/mode/diff";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import { ruby } from "@codemirror/legacy-modes/mode/ruby";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { yaml } from "@codemirror/legacy-modes/mode/yaml";
import type { Parser } from "@lezer/common";
import type { Language } from "./languages";

const modes = { ruby, lua, shell, toml, yaml, diff };
const streamed = Object.fromEntries(
  Object.entries(modes).map(([name, mode]) => [name, StreamLanguage.define<unknown>(mode).parser]),
) as Record<keyof typeof modes, Parser>;

export const PARSERS: Record<Language, Parser> = {
  python: pythonLanguage.parser,
  javascript: javascriptLanguage.parser,
  jsx: jsxLanguage.parser,
  typescript: typescriptLanguage.parser,
  tsx: tsxLanguage.parser,
  go: goLanguage.parser,
  cpp: cppLanguage.parser,
  rust: rustLanguage.parser,
  json: jsonLanguage.parser,
  ...streamed,
};
