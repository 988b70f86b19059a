/** What is pointed at in a line: a name, or a path of names such as `order.lines[0].price`. Never a call. */
export interface ValuePath {
  /** As it stands in the source. */
  text: string;
  from: number;
  to: number;
  /** The names of a path that has only names; empty where it also has an index. */
  names: string[];
  root: string;
}

const STEP = String.raw`(?:\s*(?:\.|->|::)\s*[A-Za-z_$][\w$]*|\[(?:\d+|"[^"\\\]]*"|'[^'\\\]]*')\])`;
const PATH = new RegExp(String.raw`(?<![\w$.)\]])[A-Za-z_$@][\w$]*${STEP}*`, "g");
const PIECE = new RegExp(String.raw`^[A-Za-z_$@][\w$]*|${STEP}`, "g");
const NAME = /[A-Za-z_$@][\w$]*$/;

/** Up to the piece at the column: of `a.b.c`, pointing at `b` means `a.b`. */
export function pathAt(line: string, column: number): ValuePath | null {
  for (const { 0: whole, index } of line.matchAll(PATH)) {
    if (column < index || column >= index + whole.length) continue;
    const names: string[] = [];
    let text = "";
    for (const { 0: piece } of whole.matchAll(PIECE)) {
      text += piece;
      const name = piece.startsWith("[") ? undefined : NAME.exec(piece)?.[0];
      names.push(name ?? "");
      if (column < index + text.length) break;
    }
    const isPlain = names.every(Boolean);
    return { text, from: index, to: index + text.length, names: isPlain ? names : [], root: names[0]! };
  }
  return null;
}
