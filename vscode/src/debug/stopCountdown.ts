/**
 * The countdown of a stop, in the status bar: a program that was running before a debugger came from another machine
 * runs on by itself. A click keeps it stopped for longer.
 */
import * as vscode from "vscode";

import { TYPE } from "./debugType";

const t = vscode.l10n.t;
const EVENT = "dragomanCountdown";
const REQUEST = "dragomanHold";
const COMMAND = "dragoman.holdProgram";
const HOLD_S = 120;
const TICK_MS = 1000;

type CountdownBody = { resumesInSeconds: number | null };

export class StopCountdown implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("countdown", vscode.StatusBarAlignment.Left, 50);
  /** When each program runs on, by its session. */
  private readonly ends = new Map<vscode.DebugSession, number>();
  private readonly subscriptions: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;

  constructor() {
    this.item.name = t("Dragoman: countdown of a stop");
    this.item.command = COMMAND;
    this.subscriptions = [
      this.item,
      vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
        if (session.type === TYPE && event === EVENT) this.set(session, body as CountdownBody);
      }),
      vscode.debug.onDidTerminateDebugSession((session) => this.set(session, { resumesInSeconds: null })),
      vscode.commands.registerCommand(COMMAND, () => this.hold()),
    ];
  }

  dispose(): void {
    clearInterval(this.timer);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private set(session: vscode.DebugSession, { resumesInSeconds }: CountdownBody): void {
    if (resumesInSeconds === null) this.ends.delete(session);
    else this.ends.set(session, performance.now() + resumesInSeconds * 1000);
    this.draw();
  }

  /** The program that runs on next. */
  private get next(): [vscode.DebugSession, number] | undefined {
    return [...this.ends].sort(([, one], [, other]) => one - other)[0];
  }

  private draw(): void {
    const next = this.next;
    if (!next) {
      clearInterval(this.timer);
      this.timer = undefined;
      this.item.hide();
      return;
    }
    this.timer ??= setInterval(() => this.draw(), TICK_MS);
    const [{ name }, ends] = next;
    const seconds = Math.max(0, Math.ceil((ends - performance.now()) / 1000));
    this.item.text = `$(watch) ${t("Runs on in {0} s", seconds)}`;
    this.item.tooltip = t(
      "{0} was running before the debugger came. Click to keep it here for two more minutes.",
      name,
    );
    this.item.accessibilityInformation = { label: `${this.item.text.slice(9)}. ${this.item.tooltip}`, role: "button" };
    this.item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
    this.item.show();
  }

  private async hold(): Promise<void> {
    const next = this.next;
    if (!next) {
      void vscode.window.showInformationMessage(t("No program is about to resume."));
      return;
    }
    this.set(next[0], (await next[0].customRequest(REQUEST, { seconds: HOLD_S })) as CountdownBody);
  }
}
