/** The output of the chosen session, read as it arrives, in pieces that a page draws between two frames. */
import { t } from "../link";
import { coalesced } from "../parts/coalesced";
import { OutputLines } from "./outputLines";
import { callToolIn } from "./tools";

const AT_ONCE = 50_000;

export class SessionOutput {
  readonly lines = new OutputLines();
  private session = "";
  private workspace = "";
  private round = 0;

  constructor(private readonly changed: () => void) {}

  setSession(session: string, workspace: string): void {
    [this.session, this.workspace] = [session, workspace];
    this.lines.clear();
    this.round++;
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
    const args = { session_id: this.session, cursor: this.lines.cursor, max_chars: AT_ONCE };
    const { data, is_error } = await callToolIn(this.workspace, "get_output", args);
    if (round !== this.round) return true; // another was chosen meanwhile, or it began again: read from its beginning
    if (is_error) return false;
    if (data["missed"])
      this.lines.add(`\n… ${t("{count} earlier characters are not shown.", { count: Number(data["missed"]) })}\n`);
    this.lines.add(data["output"] as string);
    this.lines.cursor = data["cursor"] as number;
    this.changed();
    return Number(data["left"]) > 0;
  }
}
