/** Terminal text with its colours. Every other sequence is removed. */
export interface AnsiRun {
  text: string;
  look: string;
}

const SEQUENCE =
  /\x1b\[([0-9;]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]/g;
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

export function ansiRuns(line: string, look: Set<string>): AnsiRun[] {
  const pieces: AnsiRun[] = [];
  let from = 0;
  const put = (text: string) => {
    if (text) pieces.push({ text, look: [...look].join(" ") });
  };
  for (const match of line.matchAll(SEQUENCE)) {
    put(line.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[1] !== undefined) restyle(look, match[1]);
  }
  put(line.slice(from));
  return pieces;
}

/** The lines, with what a colour set in one means for the next; a line that was written over shows its last state. */
export function terminal(text: string, most: number): AnsiRun[][] {
  const look = new Set<string>();
  return text
    .split(/\r?\n/)
    .slice(-most)
    .map((line) => ansiRuns(line.slice(line.replace(/\r$/, "").lastIndexOf("\r") + 1), look));
}

function restyle(look: Set<string>, codes: string): void {
  const numbers = codes.split(";").map(Number);
  for (let i = 0; i < numbers.length; i++) {
    const code = numbers[i]!;
    if (code === 38 || code === 48)
      i += numbers[i + 1] === 5 ? 2 : 4; // the many colours are shown as none
    else if (code === 0) look.clear();
    else if (code === 1) look.add("bold");
    else if (code === 22) look.delete("bold");
    else if (code === 39) forget(look);
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
      forget(look);
      look.add(`ink-${COLOURS[code % 10]}`);
    }
  }
}

function forget(look: Set<string>): void {
  for (const name of look) if (name.startsWith("ink-")) look.delete(name);
}
