/** What the chosen session printed: read on as it comes, in pieces that a page draws between two frames. */
import { t } from "../link";
import { anew } from "../parts/anew";
import { Lines } from "./lines";
import { callIn } from "./tools";

const AT_ONCE = 50_000;

export class Printed {
  readonly lines = new Lines();
  private session = "";
  private workspace = "";
  private round = 0;

  constructor(private readonly changed: () => void) {}

  of(session: string, workspace: string): void {
    [this.session, this.workspace] = [session, workspace];
    this.lines.clear();
    this.round++;
  }

  /** Until there is no more, with a breath between pieces: whoever clicks meanwhile is served first. */
  readonly read = anew(async () => {
    try {
      while (this.session && (await this.piece())) await new Promise((go) => setTimeout(go, 0));
    } catch {
      return; // the frame says that the daemon is not there
    }
  });

  private async piece(): Promise<boolean> {
    const { round } = this;
    const asked = { session_id: this.session, cursor: this.lines.cursor, max_chars: AT_ONCE };
    const { data, is_error } = await callIn(this.workspace, "get_output", asked);
    if (round !== this.round) return true; // another was chosen meanwhile, or it began again: read from its beginning
    if (is_error) return false;
    if (data["missed"]) this.lines.add(`\n… ${t("{count} characters before are not shown.", { count: Number(data["missed"]) })}\n`);
    this.lines.add(data["output"] as string);
    this.lines.cursor = data["cursor"] as number;
    this.changed();
    return Number(data["left"]) > 0;
  }
}
