/** Which names have their values at the end of which line: from the top of the function to where the program stands. */
import type { InlineValue } from "./lineMarks";

export interface NamedValue {
  value: string;
  isChanged?: boolean;
}

export interface Code {
  /** By its number, from 1. */
  line(number: number): string;
  /** Whether this is part of a string or of a comment. */
  isQuoted(line: number, column: number): boolean;
}

const NAME = /(?<![\w$.])[A-Za-z_$@][\w$]*/g;
const FURTHEST = 200;
const MOST_NAMES = 4;
const LONGEST = 48;
/** Functions, classes and modules: what they are stands in the source. */
const DEFINITION = /^(<(function|bound method|class|module|built-in)\b|ƒ |class |func\()/;
const BLOCK =
  /^\s*(if|elif|else|for|while|until|unless|switch|case|match|select|loop|do|try|catch|except|finally|with)\b/;
const FUNCTION = /\b(def|func|function|fn|class|struct|impl|module)\b|=>|\)[\w\s:<>,&*]*\{\s*$/;

export function inlineValues(
  code: Code,
  current: number,
  values: ReadonlyMap<string, NamedValue>,
): Map<number, InlineValue[]> {
  const found = new Map<number, InlineValue[]>();
  if (!values.size) return found;
  for (const number of executedLines(code, current)) {
    const names = namesOf(code, number).filter((name) => isShown(values.get(name)));
    const shown = names.slice(0, MOST_NAMES).map((name) => inline(name, values.get(name)!));
    if (shown.length) found.set(number, shown);
  }
  return found;
}

function isShown(value: NamedValue | undefined): boolean {
  return value !== undefined && !DEFINITION.test(value.value);
}

function inline(name: string, { value, isChanged = false }: NamedValue): InlineValue {
  const line = value.replace(/\s+/g, " ");
  return { text: `${name} = ${line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line}`, isChanged };
}

function namesOf(code: Code, number: number): string[] {
  const found = [...code.line(number).matchAll(NAME)].filter(({ index }) => !code.isQuoted(number, index));
  return [...new Set(found.map(([name]) => name))];
}

/** The lines of the function up to the current one, without the functions that are defined inside of it. */
function executedLines(code: Code, current: number): number[] {
  const lines: number[] = [];
  let skipped = Infinity;
  const start = functionStart(code, current);
  for (let number = Math.max(1, start); number <= current; number++) {
    const text = code.line(number);
    const indent = text.search(/\S/);
    if (indent < 0) continue;
    if (indent <= skipped) skipped = Infinity;
    if (number !== start && number < current && isFunction(text)) skipped = Math.min(skipped, indent);
    if (skipped === Infinity) lines.push(number);
  }
  return lines;
}

/** The line where the function begins that the current line is in; outside of any, as far up as is looked. */
function functionStart(code: Code, current: number): number {
  const first = Math.max(0, current - FURTHEST);
  let indent = code.line(current).search(/\S/);
  for (let number = current - 1; number > first && indent > 0; number--) {
    const text = code.line(number);
    const outer = text.search(/\S/);
    if (outer < 0 || outer >= indent) continue;
    if (isFunction(text)) return number;
    indent = outer;
  }
  return first;
}

function isFunction(line: string): boolean {
  return FUNCTION.test(line) && !BLOCK.test(line);
}
