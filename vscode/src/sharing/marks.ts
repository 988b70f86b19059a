/** Agents' breakpoints in sessions of the person's: set by the editor itself, and taken back with the session. */
import * as vscode from "vscode";

import type { Json } from "../bridge/link";

const t = vscode.l10n.t;
const BOUND_WITHIN_MS = 2000;
const LOOK_EVERY_MS = 50;

interface Wanted {
  line: number;
  column?: number;
  condition?: string;
  hitCondition?: string;
  logMessage?: string;
}

export class Marks implements vscode.Disposable {
  /** By session and file, those that we added. */
  private readonly ours = new Map<string, vscode.SourceBreakpoint[]>();
  /** The last writer wins: what the person took away is not set again. */
  private readonly unwanted = new Set<string>();
  private readonly sign = vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor("editorCodeLens.foreground"), margin: "0 0 0 2em" },
    isWholeLine: true,
  });
  private readonly subscriptions: vscode.Disposable[];

  constructor() {
    this.subscriptions = [
      this.sign,
      vscode.debug.onDidChangeBreakpoints(({ removed }) => removed.forEach((mark) => this.takenAway(mark))),
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
    ];
  }

  dispose(): void {
    for (const key of [...this.ours.keys()]) this.take(key, []);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** As DAP sets them: the whole list of a file. */
  async set(session: vscode.DebugSession, { source, breakpoints }: Json): Promise<Json> {
    const path = String((source as Json).path);
    const wanted = breakpoints as Wanted[];
    const marks = wanted.map((it) => (this.unwanted.has(place(path, it.line)) ? undefined : (this.there(path, it) ?? made(path, it))));
    this.take(`${session.id} ${path}`, marks.filter((mark): mark is vscode.SourceBreakpoint => mark !== undefined));
    return { breakpoints: await Promise.all(marks.map((mark, index) => bound(session, mark, wanted[index]!))) };
  }

  ended(session: vscode.DebugSession): void {
    for (const key of [...this.ours.keys()]) if (key.startsWith(`${session.id} `)) this.take(key, []);
    if (!this.ours.size) this.unwanted.clear();
  }

  private there(path: string, { line }: Wanted): vscode.SourceBreakpoint | undefined {
    return vscode.debug.breakpoints.find(
      (it): it is vscode.SourceBreakpoint =>
        it instanceof vscode.SourceBreakpoint && it.enabled && it.location.uri.fsPath === path && it.location.range.start.line === line - 1,
    );
  }

  /** What is ours and no longer wanted goes; what the person has there already stays the person's. */
  private take(key: string, marks: vscode.SourceBreakpoint[]): void {
    const before = this.ours.get(key) ?? [];
    const known = new Set(vscode.debug.breakpoints);
    const added = marks.filter((mark) => !known.has(mark));
    const kept = before.filter((mark) => marks.includes(mark));
    this.ours.set(key, [...kept, ...added]);
    if (!marks.length) this.ours.delete(key);
    vscode.debug.removeBreakpoints(before.filter((mark) => !marks.includes(mark)));
    vscode.debug.addBreakpoints(added);
    this.draw();
  }

  /** They stand among the person's, and are seen not to be theirs. */
  private draw(): void {
    const places = [...this.ours.values()].flat().map(({ location }) => location);
    for (const editor of vscode.window.visibleTextEditors) {
      const here = places.filter(({ uri, range }) => uri.fsPath === editor.document.uri.fsPath && range.start.line < editor.document.lineCount);
      editor.setDecorations(this.sign, here.map(({ range }) => ({
        range: editor.document.lineAt(range.start.line).range,
        renderOptions: { after: { contentText: t("breakpoint of an agent") } },
      })));
    }
  }

  private takenAway(mark: vscode.Breakpoint): void {
    for (const [key, marks] of this.ours) {
      if (!(mark instanceof vscode.SourceBreakpoint) || !marks.includes(mark)) continue;
      this.ours.set(key, marks.filter((it) => it !== mark));
      this.unwanted.add(place(mark.location.uri.fsPath, mark.location.range.start.line + 1));
    }
    this.draw();
  }
}

function place(path: string, line: number): string {
  return `${path}:${line}`;
}

function made(path: string, { line, column, condition, hitCondition, logMessage }: Wanted): vscode.SourceBreakpoint {
  const at = new vscode.Location(vscode.Uri.file(path), new vscode.Position(line - 1, column ? column - 1 : 0));
  return new vscode.SourceBreakpoint(at, true, condition || undefined, hitCondition || undefined, logMessage || undefined);
}

/** What the adapter made of it, once the editor has told it. */
async function bound(session: vscode.DebugSession, mark: vscode.SourceBreakpoint | undefined, { line }: Wanted): Promise<Json> {
  if (!mark) return { verified: false, line, message: t("The person took this breakpoint away.") };
  const deadline = Date.now() + BOUND_WITHIN_MS;
  while (Date.now() < deadline) {
    const told = await session.getDebugProtocolBreakpoint(mark);
    if (told) return { line, ...(told as unknown as Json) };
    await new Promise((settle) => setTimeout(settle, LOOK_EVERY_MS));
  }
  return { verified: false, line };
}
