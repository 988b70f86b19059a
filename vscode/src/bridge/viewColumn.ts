/**
 * Where a file is shown: where it is already, else beside other texts. A panel that the person looks at stays in sight.
 */
import * as vscode from "vscode";

export function viewColumnOf(file: vscode.Uri): vscode.ViewColumn {
  const group = vscode.window.tabGroups.all.find(({ tabs }) =>
    tabs.some(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === file.toString()),
  );
  return group?.viewColumn ?? lastTextEditor()?.viewColumn ?? vscode.ViewColumn.One;
}

/** The one that the person is at, or was before a panel had the focus. */
export function lastTextEditor(): vscode.TextEditor | undefined {
  return (
    vscode.window.activeTextEditor ??
    vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === "file")
  );
}
