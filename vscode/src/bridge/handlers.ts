/** Requests that agents may make of this window. Each one first asks the person for permission. */
import * as vscode from "vscode";

import { viewColumnOf, lastTextEditor } from "./viewColumn";
import type { Consent } from "./consent";
import type { Handler, Json } from "./rpcConnection";
import { notificationText } from "./notificationText";
import type { Proposals } from "./proposals";
import type { AgentTerminals } from "./terminals";

const t = vscode.l10n.t;
const SEVERITIES = ["error", "warning", "information", "hint"] as const;

export function handlers(consent: Consent, proposals: Proposals, terminals: AgentTerminals): Record<string, Handler> {
  const allowed =
    (kind: string, words: (params: Json) => string, act: Handler): Handler =>
    async (params, signal) => {
      await consent.require(kind, words(params), signal);
      return act(params, signal);
    };
  return {
    open: allowed("open", (it) => t("{0} wants to open {1}.", agentName(it), relativePath(it)), open),
    diff: allowed(
      "diff",
      (it) => t("{0} wants to propose a change to {1}.", agentName(it), relativePath(it)),
      ({ path, text, title, by }, signal) =>
        proposals.show(
          { path: String(path), text: String(text), title: String(title ?? ""), by: agentName({ by }) },
          signal,
        ),
    ),
    diagnostics: allowed(
      "diagnostics",
      (it) => t("{0} wants to read the list of problems.", agentName(it)),
      diagnostics,
    ),
    selection: allowed("selection", (it) => t("{0} wants to read what you have selected.", agentName(it)), selection),
    open_files: allowed("open_files", (it) => t("{0} wants to know which files are open.", agentName(it)), openFiles),
    notify: allowed("notify", (it) => t("{0} wants to show you notifications.", agentName(it)), notify),
    run_in_terminal: allowed(
      "run_in_terminal",
      (it) =>
        t(
          "{0} wants to run this in the terminal {1} (always: any command of any agent): {2}",
          agentName(it),
          terminalName(it),
          String(it.command),
        ),
      async (it) => terminals.run(terminalName(it), String(it.command), String(it.folder)),
    ),
  };
}

function agentName({ by }: Json): string {
  return String(by || "") || t("An agent");
}

function terminalName({ name: wanted }: Json): string {
  return String(wanted || "") || "Dragoman";
}

function relativePath({ path }: Json): string {
  return vscode.workspace.asRelativePath(String(path));
}

async function open({ path, line, end_line }: Json): Promise<void> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(String(path)));
  const [first, last] = [Number(line) - 1, Number(end_line) - 1].map((it) => Math.min(it, document.lineCount - 1)) as [
    number,
    number,
  ];
  const end = last > first ? document.lineAt(last).range.end : new vscode.Position(first, 0);
  const viewColumn = viewColumnOf(document.uri);
  const editor = await vscode.window.showTextDocument(document, {
    preview: false,
    viewColumn,
    selection: new vscode.Range(first, 0, end.line, end.character),
  });
  editor.revealRange(new vscode.Range(first, 0, last, 0), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

async function diagnostics({ path, least, most }: Json): Promise<Json> {
  const worst: vscode.DiagnosticSeverity = SEVERITIES.indexOf(least as (typeof SEVERITIES)[number]);
  const below = String(path);
  const found = vscode.languages
    .getDiagnostics()
    .filter(([{ scheme, fsPath }]) => scheme === "file" && (fsPath === below || fsPath.startsWith(`${below}/`)));
  const all = found.flatMap(([uri, problems]) =>
    problems.filter(({ severity }) => severity <= worst).map((it) => problem(uri, it)),
  );
  return { problems: all.slice(0, Number(most)), more: Math.max(0, all.length - Number(most)) };
}

function problem(uri: vscode.Uri, { range, severity, message, source, code }: vscode.Diagnostic): Json {
  const named = typeof code === "object" ? code.value : code;
  return {
    path: uri.fsPath,
    line: range.start.line + 1,
    column: range.start.character + 1,
    severity: SEVERITIES[severity],
    message: message.slice(0, 1000),
    source: source ?? "",
    code: named === undefined ? "" : String(named),
  };
}

async function selection({ most }: Json): Promise<Json> {
  const editor = lastTextEditor();
  if (!editor || editor.document.uri.scheme !== "file") return {};
  const { document, selection: chosen } = editor;
  const text = document.getText(chosen);
  return {
    path: document.uri.fsPath,
    text: text.slice(0, Number(most)),
    is_cut: text.length > Number(most),
    start_line: chosen.start.line + 1,
    start_column: chosen.start.character + 1,
    end_line: chosen.end.line + 1,
    end_column: chosen.end.character + 1,
  };
}

async function openFiles(): Promise<Json> {
  const active = vscode.window.activeTextEditor?.document.uri.toString();
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const files = new Map<string, Json>();
  for (const { input, isDirty } of tabs) {
    if (!(input instanceof vscode.TabInputText) || input.uri.scheme !== "file") continue;
    files.set(input.uri.fsPath, {
      path: input.uri.fsPath,
      is_active: input.uri.toString() === active,
      is_changed: isDirty,
    });
  }
  return { files: [...files.values()].slice(0, 1000) };
}

async function notify({ message, level, by }: Json): Promise<void> {
  const words = notificationText(`${agentName({ by })}: ${String(message)}`);
  if (level === "error") void vscode.window.showErrorMessage(words);
  else if (level === "warning") void vscode.window.showWarningMessage(words);
  else void vscode.window.showInformationMessage(words);
}
