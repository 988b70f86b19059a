/** The difference of two texts, line by line. */
export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
  before: number;
  after: number;
}

const MOST_CELLS = 4_000_000;

/** The longest common lines where that is affordable; otherwise what stood there, then what stands there now. */
export function diffLines(original: string, modified: string): DiffLine[] {
  const [a, b] = [split(original), split(modified)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [midA, midB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const keeps = midA.length * midB.length <= MOST_CELLS ? commonLines(midA, midB) : [];
  const lines: DiffLine[] = [];
  const same = (from: number, count: number, shift: number) => {
    for (let i = from; i < from + count; i++)
      lines.push({ kind: "same", text: a[i]!, before: i + 1, after: i + 1 + shift });
  };
  same(0, start, 0);
  let [i, j] = [0, 0];
  for (const [x, y] of [...keeps, [midA.length, midB.length] as const]) {
    for (; i < x; i++) lines.push({ kind: "removed", text: midA[i]!, before: start + i + 1, after: 0 });
    for (; j < y; j++) lines.push({ kind: "added", text: midB[j]!, before: 0, after: start + j + 1 });
    if (x < midA.length && y < midB.length)
      lines.push({ kind: "same", text: midA[x]!, before: start + ++i, after: start + ++j });
  }
  same(a.length - end, end, b.length - a.length);
  return lines;
}

function split(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function commonLines(a: string[], b: string[]): (readonly [number, number])[] {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;)
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i++;
    else j++;
  return pairs;
}
