/** The lines of a file: those in sight are read first, the others after them, so that a search finds every line. */
import { RequestError, type ToolResult } from "../link";
import { callToolIn } from "../debugger/tools";

export const LINES_PER_PAGE = 400;
const AT_ONCE = 2;
const AGAIN_MS = 1000;

/** Dispatches `changed` when lines or an error have arrived. */
export class SourceFile extends EventTarget {
  total = 0;
  error = "";
  /** Breakpoints that were clicked on or off and are not confirmed yet. */
  readonly pendingToggles = new Map<number, boolean>();
  /** What was read, by page. A page that was read again and is as it was keeps its array. */
  readonly pages = new Map<number, readonly string[]>();
  /** Its whole path, as the daemon found it. */
  private fullPath = "";
  private wanted = 0;
  private readonly requested = new Set<number>();
  private readers = 0;
  private reads = 0;
  /** For each page, the read that filled it: an older answer never replaces a newer one. */
  private readonly shownReads = new Map<number, number>();

  constructor(
    readonly path: string,
    public workspace: string,
  ) {
    super();
  }

  is(path: string, workspace: string): boolean {
    const whole = (name: string) => (name.startsWith("/") ? name : `${workspace}/${name}`);
    return workspace === this.workspace && path !== "" && [whole(this.path), this.fullPath].includes(whole(path));
  }

  line(index: number): string | undefined {
    return this.pages.get(Math.floor(index / LINES_PER_PAGE))?.[index % LINES_PER_PAGE];
  }

  /** Whether every line has arrived. */
  get isComplete(): boolean {
    return this.total > 0 && this.pages.size === this.pageCount;
  }

  /** How many lines from the first one on have arrived without a gap. */
  get linesFromTop(): number {
    let page = 0;
    while (this.pages.has(page)) page++;
    return Math.min(page * LINES_PER_PAGE, this.total);
  }

  /** These lines are in sight: they come before all others. */
  want(index: number): void {
    this.wanted = Math.max(0, Math.floor(index / LINES_PER_PAGE));
    this.read();
  }

  /**
   * A file may have been edited since. What was read stands there until it is read again: nothing moves under a hand.
   */
  reload(): void {
    this.requested.clear();
    this.read();
  }

  private get pageCount(): number {
    return Math.ceil(this.total / LINES_PER_PAGE);
  }

  private read(): void {
    while (this.readers < AT_ONCE && this.nextPage() !== undefined) void this.readPages();
  }

  private async readPages(): Promise<void> {
    this.readers++;
    for (let page = this.nextPage(); page !== undefined; page = this.nextPage()) await this.readPage(page);
    this.readers--;
  }

  private nextPage(): number | undefined {
    const isUnread = (page: number) => !this.requested.has(page);
    if (isUnread(this.wanted) && (!this.total || this.wanted < this.pageCount)) return this.wanted;
    for (let page = 0; page < this.pageCount; page++) if (isUnread(page)) return page;
    return undefined;
  }

  private async readPage(page: number): Promise<void> {
    this.requested.add(page);
    const number = ++this.reads;
    const args = { file_path: this.path, line: page * LINES_PER_PAGE + 1, count: LINES_PER_PAGE };
    try {
      const answer = await callToolIn(this.workspace, "get_source", args);
      if (number > (this.shownReads.get(page) ?? 0)) this.setPage(page, answer);
      this.shownReads.set(page, Math.max(number, this.shownReads.get(page) ?? 0));
    } catch (error) {
      if (error instanceof RequestError) this.error = error.message;
      else setTimeout(() => this.readAgain(page), AGAIN_MS); // the daemon does not answer just now
    }
    this.dispatchEvent(new Event("changed"));
  }

  private readAgain(page: number): void {
    this.requested.delete(page);
    this.read();
  }

  private setPage(page: number, { data, text, is_error }: ToolResult): void {
    if (is_error && page > 0) return this.startOver(); // it may have become shorter
    this.error = is_error ? String(data["message"] ?? text) : "";
    if (is_error) return;
    this.fullPath = data["file_path"] as string;
    this.total = data["total_lines"] as number;
    for (const beyond of this.pages.keys()) if (beyond >= this.pageCount) this.pages.delete(beyond);
    const lines = data["lines"] as string[];
    if (!isSame(lines, this.pages.get(page))) this.pages.set(page, lines);
  }

  private startOver(): void {
    this.wanted = 0;
    this.requested.delete(0);
  }
}

function isSame(lines: readonly string[], others: readonly string[] | undefined): boolean {
  return lines.length === others?.length && lines.every((line, index) => line === others[index]);
}
