/** Breakpoints in the editor's list that are not the person's: how they are made, and the word beside their lines. */
import * as vscode from "vscode";

export interface BreakpointSpec {
  path: string;
  line: number;
  column?: number | null | undefined;
  condition?: string | undefined;
  hitCondition?: string | undefined;
  logMessage?: string | undefined;
  enabled?: boolean | undefined;
}

export function createBreakpoint({
  path,
  line,
  column,
  condition,
  hitCondition,
  logMessage,
  enabled,
}: BreakpointSpec): vscode.SourceBreakpoint {
  const location = new vscode.Location(vscode.Uri.file(path), new vscode.Position(line - 1, column ? column - 1 : 0));
  return new vscode.SourceBreakpoint(
    location,
    enabled ?? true,
    condition || undefined,
    hitCondition || undefined,
    logMessage || undefined,
  );
}

export class BreakpointLabels implements vscode.Disposable {
  private readonly decoration = vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor("editorCodeLens.foreground"), margin: "0 0 0 2em" },
    isWholeLine: true,
  });

  dispose(): void {
    this.decoration.dispose();
  }

  /** In whatever is open. */
  draw<At extends { path: string; line: number }>(all: readonly At[], words: (it: At) => string): void {
    const sign = (it: At) => ({ after: { contentText: words(it) } });
    for (const editor of vscode.window.visibleTextEditors) {
      const { uri, lineCount } = editor.document;
      const here = all.filter(({ path, line }) => path === uri.fsPath && line <= lineCount);
      editor.setDecorations(
        this.decoration,
        here.map((it) => ({ range: editor.document.lineAt(it.line - 1).range, renderOptions: sign(it) })),
      );
    }
  }
}
