/** Breakpoints that we added and that are not the person's: a window that is left in the middle keeps them, and brings
 * them back as the person's own. Those are taken away again. */
import * as vscode from "vscode";

/** Where breakpoints of joined sessions are stored. */
export const MIRRORED = "dragoman.othersBreakpoints";

export class StaleBreakpoints implements vscode.Disposable {
  private readonly ids: Set<string>;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly memory: vscode.Memento,
    private readonly storageKey: string,
  ) {
    this.ids = new Set(memory.get<string[]>(storageKey, []));
    this.subscription = vscode.debug.onDidChangeBreakpoints(({ added }) => this.remove(added));
    this.remove(vscode.debug.breakpoints);
  }

  dispose(): void {
    this.subscription.dispose();
  }

  has({ id }: vscode.Breakpoint): boolean {
    return this.ids.has(id);
  }

  /** Breakpoints that are shown now, or will be once this is stored. */
  async store(marks: readonly vscode.Breakpoint[]): Promise<void> {
    await this.memory.update(this.storageKey, [...this.ids, ...marks.map(({ id }) => id)]);
  }

  private remove(all: readonly vscode.Breakpoint[]): void {
    vscode.debug.removeBreakpoints(all.filter(({ id }) => this.ids.delete(id)));
  }
}
