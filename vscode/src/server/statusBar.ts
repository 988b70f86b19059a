/** The status bar item: whether the server runs, its port, and the number of live sessions. */
import * as vscode from "vscode";

import type { Server } from "../server/server";
import { statusText } from "../server/statusText";

export function showStatus(server: Server): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("status", vscode.StatusBarAlignment.Right, 100);
  item.name = "Dragoman";
  item.command = "dragoman.menu";
  const draw = () => {
    const { text, tooltip, isWarning } = statusText(
      server.state,
      server.activity,
      vscode.l10n.t,
      server.programs.isMissing,
    );
    item.text = text;
    item.tooltip = tooltip;
    item.backgroundColor = isWarning ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    item.accessibilityInformation = { label: `Dragoman: ${tooltip.replaceAll("\n", ", ")}`, role: "button" };
  };
  draw();
  item.show();
  return vscode.Disposable.from(item, server.onDidChange(draw));
}
