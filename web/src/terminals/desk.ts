/** What the view of terminals knows: who has which, what ran there, and what it printed. */
import type { ReactiveController, ReactiveControllerHost } from "lit";
import { call, feed, type Answer } from "../link";
import type { Command, Hit, Terminal } from "./answers";

const AT_ONCE = 100;
const OUTPUT_BYTES = 100_000;
/** So many pages are read to find the line that a search found. */
const SOUGHT_PAGES = 20;

export type Shows = "output" | "screen" | "ask";

export class Desk implements ReactiveController {
  terminals: Terminal[] = [];
  chosen = "";
  words = "";
  failed = false;
  commands: Command[] = [];
  hits: Hit[] = [];
  next: string | null = null;
  command: Command | null = null;
  lines: string[] = [];
  left: number | null = null;
  shows: Shows = "output";
  /** The line that a search found, where it stands. */
  found = -1;
  trouble = "";
  private unsubscribe = () => {};
  private soon = 0;
  private round = 0;

  constructor(private readonly host: ReactiveControllerHost & HTMLElement) {
    host.addController(this);
  }

  hostConnected(): void {
    this.unsubscribe = feed.subscribe("terminal.", { events: () => this.later(), reset: () => this.later() });
  }

  hostDisconnected(): void {
    this.unsubscribe();
  }

  named(id: string): Terminal | undefined {
    return this.terminals.find(({ terminal }) => terminal === id);
  }

  private later(): void {
    clearTimeout(this.soon);
    this.soon = window.setTimeout(() => void this.refresh(), 50);
  }

  async refresh(): Promise<void> {
    const told = await this.ask("list_terminals", { ended: true });
    if (told) this.terminals = told.data["terminals"] as Terminal[];
    await this.search();
  }

  /** From the newest on; what was read beyond the first page is read again by whoever wants it. */
  async search(before = ""): Promise<void> {
    const round = before ? this.round : ++this.round;
    const told = await this.ask("search_commands", {
      query: this.words, failed: this.failed, terminal: this.chosen, limit: AT_ONCE, ...(before ? { before } : {}),
    });
    if (!told || round !== this.round) return;
    const found = told.data["commands"] as Command[];
    this.commands = before ? [...this.commands, ...found] : found;
    this.hits = before ? this.hits : (told.data["output_hits"] as Hit[]);
    this.next = told.data["next_before"] as string | null;
    this.host.requestUpdate();
  }

  /** Of one terminal its screen is shown; of all there is none. */
  choose(terminal: string): void {
    this.chosen = terminal;
    this.shows = terminal ? "screen" : "output";
    void this.refresh();
  }

  show(what: Shows): void {
    this.shows = what;
    this.host.requestUpdate();
  }

  async read(id: string, line = ""): Promise<void> {
    this.shows = "output";
    const told = await this.ask("get_command_output", { command_id: id, part: "head", offset: 0, limit: OUTPUT_BYTES });
    if (!told) return;
    this.lines = linesOf(told);
    this.keep(told);
    this.found = line ? await this.seek(line) : -1;
    this.host.requestUpdate();
  }

  private async seek(line: string): Promise<number> {
    const words = line.replace(/…$/, "").trim();
    for (let page = 0; page < SOUGHT_PAGES; page++) {
      const found = this.lines.findIndex((it) => it.includes(words));
      if (found >= 0 || this.left === null) return found;
      await this.readOn();
    }
    return -1;
  }

  async readOn(): Promise<void> {
    if (this.left === null || !this.command) return;
    const told = await this.ask("get_command_output", { command_id: this.command.command_id, offset: this.left, limit: OUTPUT_BYTES });
    if (!told) return;
    this.lines = [...this.lines, ...linesOf(told)];
    this.keep(told);
  }

  private keep({ data }: Answer): void {
    this.command = data["command"] as Command;
    this.left = data["next_offset"] as number | null;
    this.host.requestUpdate();
  }

  private async ask(tool: string, args: Record<string, unknown>): Promise<Answer | null> {
    try {
      const told = await call(tool, args);
      this.trouble = told.is_error ? told.text : "";
      this.host.requestUpdate();
      return told.is_error ? null : told;
    } catch {
      return null; // the frame says that the daemon is not there
    }
  }
}

function linesOf({ data }: Answer): string[] {
  const output = data["output"] as string;
  return output ? output.split("\n") : [];
}
