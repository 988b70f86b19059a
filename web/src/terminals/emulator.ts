/**
 * A screen as xterm.js makes it of bytes; drawing is ours. Its own drawing writes styles into the page, which the
 * content policy forbids, and as plain elements the text can be chosen, copied and read aloud.
 */
import headless, { type IBufferCell, type Terminal as Xterm } from "@xterm/headless";

/** Cells that look alike, side by side. */
export interface Run {
  text: string;
  classes: string;
  style: string;
}

const { Terminal } = headless;
const SCROLLBACK = 5000;
const MOST_COLUMNS = 1000;
const MOST_ROWS = 500;
/**
 * Sequences with an effect beside the screen: titles, colours, links, the clipboard, notifications. All are ignored.
 */
const IGNORED_OSC = [0, 1, 2, 4, 5, 7, 8, 9, 10, 11, 12, 22, 50, 52, 99, 104, 110, 111, 112, 133, 633, 777, 1337];
const OPTIONS = {
  cols: 80,
  rows: 24,
  scrollback: SCROLLBACK,
  allowProposedApi: true,
  logLevel: "off",
  windowOptions: { setWinSizeChars: true }, // whether our own handler is asked
} as const;
const STEPS = [0, 95, 135, 175, 215, 255];

export class Emulator {
  private readonly xterm: Xterm = new Terminal(OPTIONS);

  /** `changed` is called after something was taken in; whatever the screen would answer goes nowhere. */
  constructor(private readonly changed: () => void) {
    const { parser } = this.xterm;
    parser.registerCsiHandler({ final: "t" }, (params) => this.handleWindowOp(params));
    for (const number of IGNORED_OSC) parser.registerOscHandler(number, () => true);
  }

  begin(columns: number, rows: number): void {
    this.xterm.reset();
    this.resize(columns, rows);
  }

  write(bytes: Uint8Array, drawn: () => void): void {
    this.xterm.write(bytes, () => {
      this.changed();
      drawn();
    });
  }

  end(): void {
    this.xterm.dispose();
  }

  get columns(): number {
    return this.xterm.cols;
  }

  get rows(): number {
    return this.xterm.rows;
  }

  /**
   * With what scrolled out of the screen, and without the empty lines below the cursor: the end is where something is.
   */
  get length(): number {
    const buffer = this.xterm.buffer.active;
    let end = buffer.length;
    while (end > buffer.baseY + buffer.cursorY + 1 && !buffer.getLine(end - 1)?.translateToString(true)) end--;
    return end;
  }

  line(index: number, showsCursor: boolean): Run[] {
    const buffer = this.xterm.buffer.active;
    const line = buffer.getLine(index);
    if (!line) return [];
    const cursor =
      showsCursor && index === buffer.baseY + buffer.cursorY ? Math.min(buffer.cursorX, this.columns - 1) : -1;
    const runs: Run[] = [];
    let cell: IBufferCell | undefined;
    for (let x = 0; x < line.length; x++) {
      cell = line.getCell(x, cell);
      if (cell && cell.getWidth()) put(runs, cell, x === cursor);
    }
    return trimmed(runs);
  }

  /** A window's new size stands in the record as the sequence that sets one; every other of its kind does nothing. */
  private handleWindowOp(params: (number | number[])[]): boolean {
    const [kind, rows, columns] = params.map(Number);
    if (kind === 8 && rows && columns) this.resize(columns, rows);
    return true;
  }

  private resize(columns: number, rows: number): void {
    this.xterm.resize(Math.min(Math.max(columns, 2), MOST_COLUMNS), Math.min(Math.max(rows, 1), MOST_ROWS));
  }
}

function put(runs: Run[], cell: IBufferCell, isCursor: boolean): void {
  const text = cell.isInvisible() ? " ".repeat(cell.getWidth()) : cell.getChars() || " ";
  const isPlain = text.length === 1 && text <= "\u024f";
  const classes = classesOf(cell, isCursor, isPlain);
  const style = colourStyle(cell) + (isPlain ? "" : `width:${cell.getWidth()}ch`);
  const last = runs.at(-1);
  if (isPlain && last && last.classes === classes && last.style === style) last.text += text;
  else runs.push({ text, classes, style });
}

/** Letters of fonts that lend theirs may be wider or narrower: each of those keeps the place it has in the grid. */
function classesOf(cell: IBufferCell, isCursor: boolean, isPlain: boolean): string {
  const names = [];
  if (cell.isBold()) names.push("bold");
  if (cell.isItalic()) names.push("italic");
  if (cell.isDim()) names.push("dim");
  if (cell.isUnderline()) names.push("under");
  if (cell.isStrikethrough()) names.push("struck");
  if (isCursor) names.push("cursor");
  if (!isPlain) names.push("cell");
  return names.join(" ");
}

function colourStyle(cell: IBufferCell): string {
  const isOnColour = !cell.isBgDefault();
  let ink = cell.isFgDefault() ? "" : colour(cell.isFgRGB(), cell.getFgColor(), isOnColour ? "k" : "c");
  let ground = isOnColour ? colour(cell.isBgRGB(), cell.getBgColor(), "g") : "";
  if (cell.isInverse()) [ink, ground] = [ground || "var(--ground)", ink || "var(--glyph)"];
  return (ink ? `color:${ink};` : "") + (ground ? `background:${ground};` : "");
}

/**
 * Of the sixteen, some differ where they are a ground (`g`), and where they stand on one that a program chose (`k`).
 */
function colour(isRgb: boolean, value: number, named: "c" | "g" | "k"): string {
  if (isRgb) return `#${value.toString(16).padStart(6, "0")}`;
  if (value < 16) return named === "c" ? `var(--c${value})` : `var(--${named}${value},var(--c${value}))`;
  if (value >= 232) return `rgb(${[0, 0, 0].map(() => 8 + 10 * (value - 232)).join()})`;
  const cube = value - 16;
  return `rgb(${[Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((step) => STEPS[step]).join()})`;
}

function trimmed(runs: Run[]): Run[] {
  const last = runs.at(-1);
  if (last && !last.classes && !last.style) {
    last.text = last.text.trimEnd();
    if (!last.text) runs.pop();
  }
  return runs;
}
