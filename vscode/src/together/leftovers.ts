/** Breakpoints that we added and that are not the person's: a window that is left in the middle keeps them, and brings
 * them back as the person's own. Those are taken away again. */
import * as vscode from "vscode";

/** Where those of joined sessions are noted. */
export const MIRRORED = "dragoman.othersBreakpoints";

export class Leftovers implements vscode.Disposable {
  private readonly left: Set<string>;
  private readonly heard: vscode.Disposable;

  constructor(
    private readonly memory: vscode.Memento,
    private readonly place: string,
  ) {
    this.left = new Set(memory.get<string[]>(place, []));
    this.heard = vscode.debug.onDidChangeBreakpoints(({ added }) => this.takeAway(added));
    this.takeAway(vscode.debug.breakpoints);
  }

  dispose(): void {
    this.heard.dispose();
  }

  has({ id }: vscode.Breakpoint): boolean {
    return this.left.has(id);
  }

  /** Those that are shown now. */
  note(marks: readonly vscode.Breakpoint[]): void {
    void this.memory.update(this.place, [...this.left, ...marks.map(({ id }) => id)]);
  }

  private takeAway(all: readonly vscode.Breakpoint[]): void {
    vscode.debug.removeBreakpoints(all.filter(({ id }) => this.left.delete(id)));
  }
}
