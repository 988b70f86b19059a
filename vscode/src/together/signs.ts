/** Breakpoints in the editor's list that are not the person's: how they are made, and the word beside their lines. */
import * as vscode from "vscode";

export interface Wish {
  path: string;
  line: number;
  column?: number | null | undefined;
  condition?: string | undefined;
  hitCondition?: string | undefined;
  logMessage?: string | undefined;
  enabled?: boolean | undefined;
}

export function made({ path, line, column, condition, hitCondition, logMessage, enabled }: Wish): vscode.SourceBreakpoint {
  const place = new vscode.Location(vscode.Uri.file(path), new vscode.Position(line - 1, column ? column - 1 : 0));
  return new vscode.SourceBreakpoint(place, enabled ?? true, condition || undefined, hitCondition || undefined, logMessage || undefined);
}

export class Signs implements vscode.Disposable {
  private readonly sign = vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor("editorCodeLens.foreground"), margin: "0 0 0 2em" },
    isWholeLine: true,
  });

  dispose(): void {
    this.sign.dispose();
  }

  /** In whatever is open. */
  draw<At extends { path: string; line: number }>(all: readonly At[], words: (it: At) => string): void {
    const sign = (it: At) => ({ after: { contentText: words(it) } });
    for (const editor of vscode.window.visibleTextEditors) {
      const { uri, lineCount } = editor.document;
      const here = all.filter(({ path, line }) => path === uri.fsPath && line <= lineCount);
      editor.setDecorations(this.sign, here.map((it) => ({ range: editor.document.lineAt(it.line - 1).range, renderOptions: sign(it) })));
    }
  }
}
