/** The state of the terminals view: terminals, the commands that ran there, and their output. */
import type { ReactiveController, ReactiveControllerHost } from "lit";
import { router } from "../app/router";
import { callTool, feed, t, type ToolResult } from "../link";
import { coalesced } from "../parts/coalesced";
import type { Command, Hit, Terminal } from "./toolResults";

const VIEW = "terminals";
const RUNNING_EVERY_MS = 1000;
/** The end of the id of a command that runs. */
const RUNNING = ":running";
const AT_ONCE = 100;
const OUTPUT_BYTES = 100_000;
/** So many pages are read to find the line that a search found. */
const SOUGHT_PAGES = 20;

export type Pane = "output" | "screen" | "ask";

export class TerminalsController implements ReactiveController {
  terminals: Terminal[] = [];
  selected = "";
  query = "";
  onlyFailed = false;
  /** Whether commands of every folder are looked through: a person's switch. */
  allWorkspaces = false;
  commands: Command[] = [];
  hits: Hit[] = [];
  nextBefore: string | null = null;
  command: Command | null = null;
  lines: string[] = [];
  nextOffset: number | null = null;
  pane: Pane = "output";
  /** A narrow window has room for what is chosen from, or for what is read of it. */
  isReading = false;
  /** Running commands: the record has a command only when it has ended. */
  private running: Command[] = [];
  /** The line that a search found, and its place in the output. */
  foundLine = -1;
  /** Distinguishes reads that began at different places. */
  reads = 0;
  error = "";
  /** A command that was searched for and no longer exists. */
  notice = "";
  private unsubscribe = () => {};
  private timer = 0;
  private refreshTimer = 0;
  private round = 0;
  /** The search that the listed commands match. */
  private listedSearch = "";
  private isReadingOlder = false;
  private outputRequest = 0;
  /** More of the output that was wanted so. */
  private more: { of: number; read: Promise<void> } | null = null;

  constructor(private readonly host: ReactiveControllerHost & HTMLElement) {
    host.addController(this);
  }

  hostConnected(): void {
    router.addEventListener("navigated", this.routeChanged);
    this.showRoute(router.parts(VIEW));
    this.timer = window.setInterval(() => this.poll(), RUNNING_EVERY_MS);
    this.unsubscribe = feed.subscribe("terminal.", {
      events: () => this.refreshSoon(),
      reset: () => this.refreshSoon(),
      erased: () => this.close(),
    });
  }

  hostDisconnected(): void {
    router.removeEventListener("navigated", this.routeChanged);
    clearInterval(this.timer);
    this.unsubscribe();
    clearTimeout(this.refreshTimer);
    this.refreshTimer = 0;
  }

  private readonly routeChanged = (): void => {
    if (router.view === VIEW) this.showRoute(router.parts(VIEW));
  };

  private showRoute([terminal = "", command = ""]: readonly string[]): void {
    this.notice = "";
    if (terminal !== this.selected) void this.setSelected(terminal).then(() => this.checkSelected(terminal));
    if (command && command !== this.command?.command_id) void this.open(command);
    this.isReading = Boolean(terminal || command);
    this.host.requestUpdate();
  }

  /** Not every terminal is listed; one that is not, and in which nothing ran, is gone. */
  private async checkSelected(terminal: string): Promise<void> {
    const isLookedFor =
      terminal === this.selected && this.searchKey === this.listedSearch && !this.query && !this.onlyFailed;
    if (!terminal || !isLookedFor || this.terminal(terminal) || this.listed.length) return;
    await this.setSelected("");
    this.replaceRoute("", t("The terminal in this address no longer exists."));
  }

  /** The address names something that does not exist: it changes to what is shown. */
  private replaceRoute(terminal: string, notice: string): void {
    this.notice = notice;
    this.isReading = terminal !== "";
    router.replace(VIEW, terminal);
    this.host.requestUpdate();
  }

  /** No event reports the start of a command, so it is polled. */
  private poll(): void {
    if (!document.hidden && this.host.checkVisibility()) void this.readRunning();
  }

  private readonly readRunning = coalesced(async () => {
    const result = await this.callOrReport("list_terminals", {}, this.searchesEverywhere);
    if (result) this.running = (result.data["terminals"] as Terminal[]).flatMap(({ running }) => running ?? []);
    this.host.requestUpdate();
  });

  /** Running commands first, then ended ones, the newest first. */
  get listed(): Command[] {
    const words = this.query.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ terminal, command }: Command) =>
      !this.onlyFailed &&
      (!this.selected || terminal === this.selected) &&
      words.every((word) => command.toLowerCase().includes(word));
    return [...this.running.filter(fits), ...this.commands];
  }

  /** Part of the record was erased: read the list again. */
  private close(): void {
    this.outputRequest++;
    this.command = null;
    this.lines = [];
    this.nextOffset = null;
    this.listedSearch = "";
  }

  terminal(id: string): Terminal | undefined {
    return this.terminals.find(({ terminal }) => terminal === id);
  }

  /** Soon, and not later if more events arrive in the meantime. */
  private refreshSoon(): void {
    this.refreshTimer ||= window.setTimeout(() => {
      this.refreshTimer = 0;
      void this.refresh();
    }, 50);
  }

  readonly refresh = coalesced(async () => {
    const result = await this.callOrReport("list_terminals", { ended: true });
    if (result) this.terminals = result.data["terminals"] as Terminal[];
    await Promise.all([this.search(), this.readRunning()]);
  });

  /** From the newest on; what was read beyond the first page stays, where only something new came before it. */
  async search(): Promise<void> {
    const round = ++this.round;
    const { searchKey: sought } = this;
    const result = await this.searchCommands();
    if (!result || round !== this.round) return;
    const found = result.data["commands"] as Command[];
    const older = sought === this.listedSearch ? this.olderThan(found.at(-1)) : [];
    this.commands = [...found, ...older];
    this.listedSearch = sought;
    this.hits = result.data["output_hits"] as Hit[];
    if (!older.length) this.nextBefore = result.data["next_before"] as string | null;
    this.host.requestUpdate();
  }

  private get searchKey(): string {
    return JSON.stringify([this.query, this.onlyFailed, this.selected, this.allWorkspaces]);
  }

  private olderThan(last: Command | undefined): Command[] {
    const index = this.commands.findIndex(({ command_id }) => command_id === last?.command_id);
    return index < 0 ? [] : this.commands.slice(index + 1);
  }

  async readOlder(): Promise<void> {
    const { nextBefore: next, listedSearch: sorted } = this;
    const last = this.commands.at(-1);
    if (!next || this.isReadingOlder) return;
    this.isReadingOlder = true;
    const result = await this.searchCommands(next);
    this.isReadingOlder = false;
    if (!result || sorted !== this.listedSearch || this.commands.at(-1)?.command_id !== last?.command_id) return;
    this.nextBefore = result.data["next_before"] as string | null;
    this.commands = [...this.commands, ...(result.data["commands"] as Command[])];
    this.host.requestUpdate();
  }

  private searchCommands(before = ""): Promise<ToolResult | null> {
    const wanted = { query: this.query, failed: this.onlyFailed, terminal: this.selected, limit: AT_ONCE };
    return this.callOrReport("search_commands", { ...wanted, ...(before ? { before } : {}) }, this.searchesEverywhere);
  }

  /** A terminal that was chosen is looked through whole, wherever its commands ran. */
  get searchesEverywhere(): boolean {
    return this.allWorkspaces || this.selected !== "";
  }

  select(terminal: string): void {
    this.notice = "";
    router.push(VIEW, terminal);
    void this.setSelected(terminal);
    this.isReading = terminal !== "";
  }

  /** One terminal shows its screen; all terminals together have none. */
  private setSelected(terminal: string): Promise<void> {
    this.selected = terminal;
    this.pane = terminal ? "screen" : "output";
    void this.search();
    return this.refresh();
  }

  showPane(what: Pane): void {
    this.pane = what;
    this.host.requestUpdate();
  }

  async read(id: string, line = ""): Promise<void> {
    this.notice = "";
    router.push(VIEW, this.selected, id);
    this.isReading = true;
    await this.open(id, line);
  }

  /** A running command gets another id when it ends: it is the newest of its terminal. */
  private async openEnded(id: string, line: string): Promise<void> {
    if (!id.endsWith(RUNNING)) return this.replaceRoute(this.selected, t("This command is no longer in the record."));
    await this.refresh();
    const ended = this.commands.find(({ terminal }) => id === terminal + RUNNING);
    if (ended) await this.open(ended.command_id, line);
  }

  private async open(id: string, line = ""): Promise<void> {
    const reads = ++this.outputRequest;
    this.pane = "output";
    const result = await this.call("get_command_output", {
      command_id: id,
      part: "head",
      offset: 0,
      limit: OUTPUT_BYTES,
    });
    if (!result || reads !== this.outputRequest) return; // another was chosen meanwhile
    if (result.is_error) return this.openEnded(id, line);
    this.lines = linesOf(result);
    this.foundLine = -1;
    this.setOutput(result);
    const found = line ? await this.findLine(line) : -1;
    if (reads !== this.outputRequest) return;
    [this.foundLine, this.reads] = [found, reads];
    this.host.requestUpdate();
  }

  private async findLine(line: string): Promise<number> {
    const words = line.replace(/…$/, "").trim();
    const { outputRequest: wanted } = this;
    for (let page = 0; page < SOUGHT_PAGES && wanted === this.outputRequest; page++) {
      const found = this.lines.findIndex((it) => it.includes(words));
      if (found >= 0 || this.nextOffset === null) return found;
      await this.readMore();
    }
    return -1;
  }

  /** One read at a time: later callers wait for the same one. */
  async readMore(): Promise<void> {
    const { outputRequest: wanted, nextOffset: left, command } = this;
    if (left === null || !command) return;
    if (this.more?.of !== wanted) this.more = { of: wanted, read: this.readFrom(left, command, wanted) };
    await this.more.read;
  }

  private async readFrom(left: number, { command_id }: Command, wanted: number): Promise<void> {
    const result = await this.callOrReport("get_command_output", { command_id, offset: left, limit: OUTPUT_BYTES });
    if (this.more?.of === wanted) this.more = null;
    if (!result || wanted !== this.outputRequest) return;
    this.lines = [...this.lines, ...linesOf(result)];
    this.setOutput(result);
  }

  private setOutput({ data }: ToolResult): void {
    this.command = data["command"] as Command;
    this.nextOffset = data["next_offset"] as number | null;
    this.host.requestUpdate();
  }

  /** The person chose the terminal or the command; only a search is kept to one workspace. */
  private async callOrReport(tool: string, args: Record<string, unknown>, wide = true): Promise<ToolResult | null> {
    const result = await this.call(tool, args, wide);
    if (!result) return null;
    this.error = result.is_error ? result.text : "";
    this.host.requestUpdate();
    return result.is_error ? null : result;
  }

  private async call(tool: string, args: Record<string, unknown>, wide = true): Promise<ToolResult | null> {
    try {
      return await callTool(tool, args, wide);
    } catch {
      return null; // the page frame reports the lost connection
    }
  }
}

function linesOf({ data }: ToolResult): string[] {
  const output = data["output"] as string;
  return output ? output.split("\n") : [];
}
