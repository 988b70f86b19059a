/** The lines of a file, read as they come into sight. */
import { RequestError, type ToolResult } from "../link";
import { callToolIn } from "./tools";

const AT_ONCE = 400;
const AGAIN_MS = 1000;

export class SourceFile {
  total = 0;
  error = "";
  /** Breakpoints that were clicked on or off and are not confirmed yet. */
  readonly pendingToggles = new Map<number, boolean>();
  /** Its whole path, as the daemon found it. */
  private fullPath = "";
  private readonly pages = new Map<number, string[]>();
  private readonly requested = new Set<number>();
  private reads = 0;
  /** For each page, the read that filled it: an older answer never replaces a newer one. */
  private readonly shownReads = new Map<number, number>();

  constructor(
    readonly path: string,
    public workspace: string,
    private readonly changed: () => void,
  ) {}

  is(path: string, workspace: string): boolean {
    const whole = (name: string) => (name.startsWith("/") ? name : `${workspace}/${name}`);
    return workspace === this.workspace && path !== "" && [whole(this.path), this.fullPath].includes(whole(path));
  }

  /** One line; `undefined` while it is on its way. */
  line(index: number): string | undefined {
    const page = Math.floor(index / AT_ONCE);
    if (!this.requested.has(page)) void this.read(page);
    return this.pages.get(page)?.[index % AT_ONCE];
  }

  /**
   * A file may have been edited since. What was read stands there until it is read again: nothing moves under a hand.
   */
  reload(): void {
    this.requested.clear();
    this.changed();
  }

  private async read(page: number): Promise<void> {
    this.requested.add(page);
    const number = ++this.reads;
    const args = { file_path: this.path, line: page * AT_ONCE + 1, count: AT_ONCE };
    try {
      const answer = await callToolIn(this.workspace, "get_source", args);
      if (number > (this.shownReads.get(page) ?? 0)) this.setPage(page, answer);
      this.shownReads.set(page, Math.max(number, this.shownReads.get(page) ?? 0));
    } catch (error) {
      if (error instanceof RequestError) this.error = error.message;
      else setTimeout(() => void this.read(page), AGAIN_MS); // the daemon does not answer just now
    }
    this.changed();
  }

  private setPage(page: number, { data, text, is_error }: ToolResult): void {
    this.error = is_error ? String(data["message"] ?? text) : "";
    if (is_error) return;
    this.fullPath = data["file_path"] as string;
    this.pages.set(page, data["lines"] as string[]);
    this.total = data["total_lines"] as number;
  }
}
