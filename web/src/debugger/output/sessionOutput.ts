/** The output of the chosen session, read as it arrives, in pieces that a page draws between two frames. */
import { request, t } from "../../link";
import { coalesced } from "../../parts/coalesced";
import { OutputLines } from "./outputLines";

interface OutputAnswer {
  pieces: { category: string; text: string }[];
  cursor: number;
  missed: number;
  left: number;
}

export class SessionOutput {
  readonly lines = new OutputLines();
  private session = "";
  private round = 0;

  constructor(private readonly changed: () => void) {}

  setSession(session: string): void {
    this.session = session;
    this.lines.reset();
    this.round++;
  }

  /** What has been read goes from the view; the daemon keeps it. */
  clear(): void {
    this.lines.clear();
    this.changed();
  }

  /** Read to the end, with a pause between pieces so that clicks are handled first. */
  readonly read = coalesced(async () => {
    try {
      while (this.session && (await this.readPart())) await new Promise((go) => setTimeout(go, 0));
    } catch {
      return; // the page frame reports the lost connection
    }
  });

  private async readPart(): Promise<boolean> {
    const { round } = this;
    const { pieces, cursor, missed, left } = await request<OutputAnswer>(
      `/api/debug/output?session=${this.session}&cursor=${this.lines.cursor}`,
    );
    if (round !== this.round) return true; // another was chosen meanwhile, or it began again: read from its beginning
    const note = t("{count} earlier characters are not shown.", { count: missed });
    if (missed) this.lines.add(`\n… ${note}\n`, "console");
    for (const { text, category } of pieces) this.lines.add(text, category);
    this.lines.cursor = cursor;
    this.changed();
    return left > 0;
  }
}
