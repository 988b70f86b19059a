/** What was typed into the console of a workspace: earlier and later ones by the arrow keys, the draft at the end. */
import { changePreferences, ignoreUnreachable, savedPreferences } from "../../link";

const LONGEST = 2000;

export class ConsoleHistory {
  private typed: readonly string[] = [];
  private workspace = "";
  /** How far back; 0 at the draft. */
  private back = 0;
  private draft = "";

  async open(workspace: string): Promise<void> {
    if (workspace === this.workspace) return;
    Object.assign(this, { workspace, typed: [], back: 0 });
    try {
      const { evaluated } = await savedPreferences();
      if (workspace === this.workspace) this.typed = [...(evaluated[workspace] ?? []), ...this.typed];
    } catch (error) {
      ignoreUnreachable(error);
    }
  }

  add(expression: string): void {
    this.back = 0;
    this.draft = "";
    if (expression.length > LONGEST) return;
    this.typed = [...this.typed.filter((it) => it !== expression), expression];
    const change = { evaluated: { workspace: this.workspace, expression } };
    void changePreferences(change).catch(ignoreUnreachable);
  }

  /** The one before what is shown, or after it; null at either end. */
  step(by: 1 | -1, shown: string): string | null {
    const back = this.back - by;
    if (back < 0 || back > this.typed.length) return null;
    if (this.back === 0) this.draft = shown;
    this.back = back;
    return back === 0 ? this.draft : this.typed.at(-back)!;
  }
}
