import { beforeAll, expect, test } from "vitest";
import { tokenLines } from "../../src/source/highlight";
import { languageOf, loadParsers, loadedParser, type Language } from "../../src/source/languages";

beforeAll(loadParsers);

const classesOf = (code: string, language: Language) =>
  tokenLines(code, language)
    .flat()
    .filter(({ classes }) => classes)
    .map(({ text, classes }) => `${text} ${classes.replaceAll("tok-", "")}`);

test("a file's language is known by its ending, and a block's by its name", () => {
  expect(languageOf("/w/src/a.test.tsx")).toBe("tsx");
  expect(languageOf("include/queue.HPP")).toBe("cpp");
  expect(languageOf("Gemfile")).toBe("ruby");
  expect(languageOf("c++")).toBe("cpp");
  expect(languageOf("python")).toBe("python");
  expect(languageOf("notes.txt")).toBeUndefined();
  expect(languageOf("constructor")).toBeUndefined();
});

test.each<[Language, string, string]>([
  ["python", "def f(): return 'x'", "def keyword"],
  ["javascript", "const a = `x`", "const keyword"],
  ["typescript", "interface A { b: string }", "interface keyword"],
  ["tsx", "const a: T = <b>x</b>", "b type"],
  ["go", "func main() {}", "func keyword"],
  ["cpp", "int main(void) { return 0; }", "return keyword"],
  ["rust", "fn main() { let x = 1; }", "let keyword"],
  ["ruby", "def f\n  nil\nend", "def keyword"],
  ["lua", "local x = 1", "local keyword"],
  ["json", '{"a": null}', "null number"],
  ["shell", "if true; then echo; fi", "if keyword"],
  ["toml", "a = 1", "1 number"],
  ["yaml", "a: 1", "a number"],
  ["diff", "+new", "+new inserted"],
])("%s has its keywords coloured", (language, code, found) => {
  expect(loadedParser(language)).toBeDefined();
  expect(classesOf(code, language)).toContain(found);
});

test("a comment or a string that goes on over lines is coloured in each of them", () => {
  const lines = tokenLines('a = """one\ntwo"""\n# end', "python");
  expect(lines.map((line) => line.map(({ text }) => text).join(""))).toEqual(['a = """one', 'two"""', "# end"]);
  expect(lines[1]).toEqual([{ text: 'two"""', classes: "tok-string" }]);
  expect(lines[2]).toEqual([{ text: "# end", classes: "tok-comment" }]);
});

test("no character is lost or changed", () => {
  const code = "\n\tx = '<img src=x>'  \n\n";
  const text = tokenLines(code, "python").map((line) => line.map(({ text }) => text).join(""));
  expect(text.join("\n")).toBe(code);
});
