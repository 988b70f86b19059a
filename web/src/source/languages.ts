/** Which language a file is in. The parsers themselves are another module, which is loaded when code is first shown. */
import type { Parser } from "@lezer/common";

/** The endings of files, and the names that people and agents write above a block of code. */
const NAMES = {
  python: "py pyw pyi pyx",
  javascript: "js mjs cjs node",
  jsx: "",
  typescript: "ts mts cts",
  tsx: "",
  go: "golang",
  cpp: "c c++ cc cxx h hh hpp hxx m mm",
  rust: "rs",
  json: "jsonc json5 webmanifest",
  ruby: "rb rake ru gemspec",
  lua: "",
  shell: "sh bash zsh console",
  toml: "",
  yaml: "yml",
  diff: "patch",
} as const;

export type Language = keyof typeof NAMES;

const LANGUAGES = new Map<string, Language>(
  (Object.keys(NAMES) as Language[]).flatMap((language) =>
    [language, ...NAMES[language].split(" ")].filter(Boolean).map((name) => [name, language] as const),
  ),
);
for (const name of ["gemfile", "rakefile"]) LANGUAGES.set(name, "ruby");

/** The language of a file by its path, or of a block of code by the name above it; `undefined` for any other. */
export function languageOf(path: string): Language | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return LANGUAGES.get(name.slice(name.lastIndexOf(".") + 1));
}

let loaded: Record<Language, Parser> | undefined;

export function loadedParser(language: Language): Parser | undefined {
  return loaded?.[language];
}

export async function loadParsers(): Promise<void> {
  loaded ??= (await import("./parsers")).PARSERS;
}
