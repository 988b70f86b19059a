/** Others' breakpoints of a session that this editor is at: shown among the person's, marked as not theirs.
 *
 * They are added by ourselves, because the editor knows only breakpoints of its own: those that an adapter tells of are
 * drawn and not listed. What it then sends back as one of its own, the daemon takes for the echo that it is.
 */
import * as vscode from "vscode";

import type { Server } from "../manage/server";
import { TYPE } from "./debugging";
import { Mirror, type Told } from "./mirror";

const t = vscode.l10n.t;
const EVENT = "dragomanBreakpoints";
const PLACE = "dragoman.othersBreakpoints";

export class Breakpoints implements vscode.Disposable {
  private readonly mirrors = new Map<string, Mirror<vscode.Breakpoint>>();
  private readonly sign = vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor("editorCodeLens.foreground"), margin: "0 0 0 2em" },
    isWholeLine: true,
  });
  private readonly subscriptions: vscode.Disposable[];
  /** Shown when this window was last left in the middle of a session: the editor kept them, and they are not the person's. */
  private readonly left: Set<string>;

  constructor(
    private readonly server: Server,
    private readonly memory: vscode.Memento,
  ) {
    this.left = new Set(memory.get<string[]>(PLACE, []));
    this.subscriptions = [
      this.sign,
      vscode.debug.onDidReceiveDebugSessionCustomEvent((event) => {
        if (event.session.type === TYPE && event.event === EVENT) this.told(event.session.id, (event.body as { breakpoints: Told[] }).breakpoints);
      }),
      vscode.debug.onDidTerminateDebugSession(({ id }) => this.ended(id)),
      vscode.debug.onDidChangeBreakpoints(({ added, removed }) => {
        vscode.debug.removeBreakpoints(added.filter(({ id }) => this.left.delete(id)));
        removed.forEach((mark) => this.takenAway(mark));
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
    ];
    vscode.debug.removeBreakpoints(vscode.debug.breakpoints.filter(({ id }) => this.left.delete(id)));
  }

  dispose(): void {
    for (const id of [...this.mirrors.keys()]) this.ended(id);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private told(session: string, told: Told[]): void {
    const mirror = this.mirrors.get(session) ?? new Mirror<vscode.Breakpoint>();
    this.mirrors.set(session, mirror);
    const { added, removed } = mirror.compare(told);
    vscode.debug.removeBreakpoints(removed);
    const marks = added.map(made);
    added.forEach((it, index) => mirror.keep(it, marks[index]!)); // before the editor tells us of them
    vscode.debug.addBreakpoints(marks);
    this.draw();
  }

  /** They were the others': with the session they leave the person's list. */
  private ended(session: string): void {
    const mirror = this.mirrors.get(session);
    this.mirrors.delete(session);
    if (mirror) vscode.debug.removeBreakpoints(mirror.all().map(({ mark }) => mark));
    this.draw();
  }

  /** The last writer wins: what the person takes away is gone for its owner too, who is told so by the daemon. */
  private takenAway(mark: vscode.Breakpoint): void {
    for (const mirror of this.mirrors.values()) {
      const told = mirror.takenAway(mark);
      if (told) void this.server.watch.api?.post("/api/call", { tool: "remove_breakpoint", arguments: { breakpoint_id: told.id } });
    }
    this.draw();
  }

  private draw(): void {
    const shown = [...this.mirrors.values()].flatMap((mirror) => mirror.all());
    void this.memory.update(PLACE, shown.map(({ mark }) => mark.id));
    for (const editor of vscode.window.visibleTextEditors) {
      const here = shown.filter(({ told }) => told.path === editor.document.uri.fsPath && told.line <= editor.document.lineCount);
      editor.setDecorations(this.sign, here.map(({ told }) => ({
        range: editor.document.lineAt(told.line - 1).range,
        renderOptions: { after: { contentText: t("breakpoint of an agent") } },
      })));
    }
  }
}

function made({ path, line, column, condition, hit_condition, log_message }: Told): vscode.Breakpoint {
  const place = new vscode.Location(vscode.Uri.file(path), new vscode.Position(line - 1, column ? column - 1 : 0));
  return new vscode.SourceBreakpoint(place, true, condition || undefined, hit_condition || undefined, log_message || undefined);
}
