/** What the view of terminals knows: who has which, what ran there, and what it printed. */
import type { ReactiveController, ReactiveControllerHost } from "lit";
import { place } from "../app/place";
import { call, feed, t, type Answer } from "../link";
import { anew } from "../parts/anew";
import type { Command, Hit, Terminal } from "./answers";

const VIEW = "terminals";
const RUNNING_EVERY_MS = 1000;
/** The end of the id of a command that runs. */
const RUNNING = ":running";
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
  /** Whether commands of every folder are looked through: a person's switch. */
  everywhere = false;
  commands: Command[] = [];
  hits: Hit[] = [];
  next: string | null = null;
  command: Command | null = null;
  lines: string[] = [];
  left: number | null = null;
  shows: Shows = "output";
  /** A narrow window has room for what is chosen from, or for what is read of it. */
  isReading = false;
  /** What runs now: the record has a command when it has ended. */
  private running: Command[] = [];
  /** The line that a search found, where it stands. */
  found = -1;
  /** Tells one reading from another: each begins at its own place. */
  reads = 0;
  trouble = "";
  /** What was looked for and is gone. */
  notice = "";
  private unsubscribe = () => {};
  private timer = 0;
  private soon = 0;
  private round = 0;
  /** What was looked for, of the commands that are listed. */
  private sorted = "";
  private isReadingOlder = false;
  private wanted = 0;
  /** More of the output that was wanted so. */
  private more: { of: number; read: Promise<void> } | null = null;

  constructor(private readonly host: ReactiveControllerHost & HTMLElement) {
    host.addController(this);
  }

  hostConnected(): void {
    place.addEventListener("led", this.followAddress);
    this.follow(place.of(VIEW));
    this.timer = window.setInterval(() => this.lookAround(), RUNNING_EVERY_MS);
    this.unsubscribe = feed.subscribe("terminal.", { events: () => this.later(), reset: () => this.later(), erased: () => this.close() });
  }

  hostDisconnected(): void {
    place.removeEventListener("led", this.followAddress);
    clearInterval(this.timer);
    this.unsubscribe();
    clearTimeout(this.soon);
    this.soon = 0;
  }

  private readonly followAddress = (): void => {
    if (place.view === VIEW) this.follow(place.of(VIEW));
  };

  private follow([terminal = "", command = ""]: readonly string[]): void {
    this.notice = "";
    if (terminal !== this.chosen) void this.pick(terminal).then(() => this.lookWhetherThere(terminal));
    if (command && command !== this.command?.command_id) void this.open(command);
    this.isReading = Boolean(terminal || command);
    this.host.requestUpdate();
  }

  /** Not every terminal is listed; one that is not, and in which nothing ran, is gone. */
  private async lookWhetherThere(terminal: string): Promise<void> {
    const isLookedFor = terminal === this.chosen && this.sought === this.sorted && !this.words && !this.failed;
    if (!terminal || !isLookedFor || this.named(terminal) || this.listed.length) return;
    await this.pick("");
    this.become("", t("The terminal of this address is gone."));
  }

  /** What the address names is not there: it becomes that of what is shown. */
  private become(terminal: string, notice: string): void {
    this.notice = notice;
    this.isReading = terminal !== "";
    place.become(VIEW, terminal);
    this.host.requestUpdate();
  }

  /** That a command has begun is told by nobody. */
  private lookAround(): void {
    if (!document.hidden && this.host.checkVisibility()) void this.readRunning();
  }

  private readonly readRunning = anew(async () => {
    const told = await this.ask("list_terminals", {}, this.isWide);
    if (told) this.running = (told.data["terminals"] as Terminal[]).flatMap(({ running }) => running ?? []);
    this.host.requestUpdate();
  });

  /** What runs, then what has ended, the newest first. */
  get listed(): Command[] {
    const words = this.words.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ terminal, command }: Command) =>
      !this.failed && (!this.chosen || terminal === this.chosen) && words.every((word) => command.toLowerCase().includes(word));
    return [...this.running.filter(fits), ...this.commands];
  }

  /** What was read may be no more; what is listed is read anew. */
  private close(): void {
    this.wanted++;
    Object.assign(this, { command: null, lines: [], left: null, sorted: "" });
  }

  named(id: string): Terminal | undefined {
    return this.terminals.find(({ terminal }) => terminal === id);
  }

  /** Soon, however fast things go on happening meanwhile. */
  private later(): void {
    this.soon ||= window.setTimeout(() => {
      this.soon = 0;
      void this.refresh();
    }, 50);
  }

  readonly refresh = anew(async () => {
    const told = await this.ask("list_terminals", { ended: true });
    if (told) this.terminals = told.data["terminals"] as Terminal[];
    await Promise.all([this.search(), this.readRunning()]);
  });

  /** From the newest on; what was read beyond the first page stays, where only something new came before it. */
  async search(): Promise<void> {
    const round = ++this.round;
    const { sought } = this;
    const told = await this.searched();
    if (!told || round !== this.round) return;
    const found = told.data["commands"] as Command[];
    const older = sought === this.sorted ? this.after(found.at(-1)) : [];
    this.commands = [...found, ...older];
    this.sorted = sought;
    this.hits = told.data["output_hits"] as Hit[];
    if (!older.length) this.next = told.data["next_before"] as string | null;
    this.host.requestUpdate();
  }

  private get sought(): string {
    return JSON.stringify([this.words, this.failed, this.chosen, this.everywhere]);
  }

  private after(last: Command | undefined): Command[] {
    const index = this.commands.findIndex(({ command_id }) => command_id === last?.command_id);
    return index < 0 ? [] : this.commands.slice(index + 1);
  }

  async older(): Promise<void> {
    const { next, sorted } = this;
    const last = this.commands.at(-1);
    if (!next || this.isReadingOlder) return;
    this.isReadingOlder = true;
    const told = await this.searched(next);
    this.isReadingOlder = false;
    if (!told || sorted !== this.sorted || this.commands.at(-1)?.command_id !== last?.command_id) return;
    this.next = told.data["next_before"] as string | null;
    this.commands = [...this.commands, ...(told.data["commands"] as Command[])];
    this.host.requestUpdate();
  }

  private searched(before = ""): Promise<Answer | null> {
    const wanted = { query: this.words, failed: this.failed, terminal: this.chosen, limit: AT_ONCE };
    return this.ask("search_commands", { ...wanted, ...(before ? { before } : {}) }, this.isWide);
  }

  /** A terminal that was chosen is looked through whole, wherever its commands ran. */
  get isWide(): boolean {
    return this.everywhere || this.chosen !== "";
  }

  choose(terminal: string): void {
    this.notice = "";
    place.go(VIEW, terminal);
    void this.pick(terminal);
    this.isReading = terminal !== "";
  }

  /** Of one terminal its screen is shown; of all there is none. */
  private pick(terminal: string): Promise<void> {
    this.chosen = terminal;
    this.shows = terminal ? "screen" : "output";
    void this.search();
    return this.refresh();
  }

  show(what: Shows): void {
    this.shows = what;
    this.host.requestUpdate();
  }

  async read(id: string, line = ""): Promise<void> {
    this.notice = "";
    place.go(VIEW, this.chosen, id);
    this.isReading = true;
    await this.open(id, line);
  }

  /** What was shown as running has another id once it has ended: the newest of its terminal. */
  private async openEnded(id: string, line: string): Promise<void> {
    if (!id.endsWith(RUNNING)) return this.become(this.chosen, t("This command is no longer in the record."));
    await this.refresh();
    const ended = this.commands.find(({ terminal }) => id === terminal + RUNNING);
    if (ended) await this.open(ended.command_id, line);
  }

  private async open(id: string, line = ""): Promise<void> {
    const reads = ++this.wanted;
    this.shows = "output";
    const told = await this.answer("get_command_output", { command_id: id, part: "head", offset: 0, limit: OUTPUT_BYTES });
    if (!told || reads !== this.wanted) return; // another was chosen meanwhile
    if (told.is_error) return this.openEnded(id, line);
    this.lines = linesOf(told);
    this.found = -1;
    this.keep(told);
    const found = line ? await this.seek(line) : -1;
    if (reads !== this.wanted) return;
    [this.found, this.reads] = [found, reads];
    this.host.requestUpdate();
  }

  private async seek(line: string): Promise<number> {
    const words = line.replace(/…$/, "").trim();
    const { wanted } = this;
    for (let page = 0; page < SOUGHT_PAGES && wanted === this.wanted; page++) {
      const found = this.lines.findIndex((it) => it.includes(words));
      if (found >= 0 || this.left === null) return found;
      await this.readOn();
    }
    return -1;
  }

  /** One at a time: whoever wants more meanwhile waits for the same. */
  async readOn(): Promise<void> {
    const { wanted, left, command } = this;
    if (left === null || !command) return;
    if (this.more?.of !== wanted) this.more = { of: wanted, read: this.readFrom(left, command, wanted) };
    await this.more.read;
  }

  private async readFrom(left: number, { command_id }: Command, wanted: number): Promise<void> {
    const told = await this.ask("get_command_output", { command_id, offset: left, limit: OUTPUT_BYTES });
    if (this.more?.of === wanted) this.more = null;
    if (!told || wanted !== this.wanted) return;
    this.lines = [...this.lines, ...linesOf(told)];
    this.keep(told);
  }

  private keep({ data }: Answer): void {
    this.command = data["command"] as Command;
    this.left = data["next_offset"] as number | null;
    this.host.requestUpdate();
  }

  /** The person chose the terminal or the command; only a search is kept to one workspace. */
  private async ask(tool: string, args: Record<string, unknown>, wide = true): Promise<Answer | null> {
    const told = await this.answer(tool, args, wide);
    if (!told) return null;
    this.trouble = told.is_error ? told.text : "";
    this.host.requestUpdate();
    return told.is_error ? null : told;
  }

  private async answer(tool: string, args: Record<string, unknown>, wide = true): Promise<Answer | null> {
    try {
      return await call(tool, args, wide);
    } catch {
      return null; // the frame says that the daemon is not there
    }
  }
}

function linesOf({ data }: Answer): string[] {
  const output = data["output"] as string;
  return output ? output.split("\n") : [];
}
