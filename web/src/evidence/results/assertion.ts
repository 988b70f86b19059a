/** Both sides of a failed comparison, out of the message of an assertion, with what differs in them. */

export interface Assertion {
  left: string;
  operator: string;
  right: string;
  /** What the message says besides, such as where a side comes from. */
  rest: string;
}

export interface Part {
  text: string;
  differs: boolean;
}

const OPERATORS = ["===", "!==", "==", "!=", "<=", ">=", " not in ", " is not ", " in ", " is ", "<", ">"];
const EXPECTED = /^\s*Expected(?: value)?:\s*(.*)$/m;
const RECEIVED = /^\s*(?:Received|Got|Actual)(?: value)?:\s*(.*)$/m;
const MOST_CELLS = 250_000;

export function assertionOf(message: string): Assertion | null {
  const [expected, received] = [EXPECTED.exec(message), RECEIVED.exec(message)];
  if (expected && received) return { left: received[1]!, operator: "≠", right: expected[1]!, rest: "" };
  const lines = message.split("\n");
  const at = lines.findIndex((line) => splitComparison(line.replace(/^assert\s+/, "")));
  // A comparison further down may be part of a value, unless the first line announces it.
  if (at > 0 && !lines[0]!.trimEnd().endsWith(":")) return null;
  const found = at < 0 ? null : splitComparison(lines[at]!.replace(/^assert\s+/, ""));
  if (!found) return null;
  const rest = lines.slice(at + 1).filter((line) => line.trim());
  return { ...found, rest: withoutRepeats(rest).join("\n") };
}

/** pytest compares both sides once more, line by line; the card does that itself. */
function withoutRepeats(lines: string[]): string[] {
  return lines.filter((line) => /^\s*\+\s+(?:where|and)\b/.test(line));
}

function splitComparison(text: string): Omit<Assertion, "rest"> | null {
  let depth = 0;
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (quote) {
      if (char === "\\") at++;
      else if (char === quote) quote = "";
    } else if ("'\"`".includes(char)) quote = char;
    else if ("([{".includes(char)) depth++;
    else if (")]}".includes(char)) depth--;
    else if (!depth) {
      const operator = OPERATORS.find((it) => text.startsWith(it, at));
      const [left, right] = [text.slice(0, at).trim(), text.slice(at + (operator?.length ?? 0)).trim()];
      if (operator && left && right && isSpaced(text, at, operator))
        return { left, operator: operator.trim(), right: right.replace(/ : .*$/, "") };
    }
  }
  return null;
}

/** `<` in `<Cart object>` is no operator. */
function isSpaced(text: string, at: number, operator: string): boolean {
  return operator.startsWith(" ") || (text[at - 1] === " " && text[at + operator.length] === " ");
}

/** The values of both sides in parts, with those marked that the other side does not have. */
export function differingParts(left: string, right: string): [Part[], Part[]] {
  const [a, b] = [tokens(left), tokens(right)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [midA, midB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const common =
    midA.length * midB.length <= MOST_CELLS ? commonTokens(midA, midB) : [new Set<number>(), new Set<number>()];
  const parts = (all: string[], middle: string[], same: Set<number>) =>
    joined([
      ...all.slice(0, start).map((text) => ({ text, differs: false })),
      ...middle.map((text, at) => ({ text, differs: !same.has(at) })),
      ...all.slice(all.length - end).map((text) => ({ text, differs: false })),
    ]);
  return [parts(a, midA, common[0]!), parts(b, midB, common[1]!)];
}

/** Numbers as a whole: of 26.35 and 23.9 not the 2 is what matters. */
function tokens(text: string): string[] {
  return text.match(/\d+(?:\.\d+)?|[A-Za-z_]\w*|\\.|\s+|[^]/g) ?? [];
}

function commonTokens(a: string[], b: string[]): [Set<number>, Set<number>] {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  const [left, right] = [new Set<number>(), new Set<number>()];
  for (let i = 0, j = 0; i < a.length && j < b.length;)
    if (a[i] === b[j]) {
      left.add(i++);
      right.add(j++);
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i++;
    else j++;
  return [left, right];
}

function joined(parts: Part[]): Part[] {
  const found: Part[] = [];
  for (const part of parts) {
    const last = found.at(-1);
    if (last?.differs === part.differs) last.text += part.text;
    else found.push({ ...part });
  }
  return found;
}
