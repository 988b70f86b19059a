/** The server as this window manages it: what is known of it, and what the person wants of it. */
import * as vscode from "vscode";

import { notificationText } from "../bridge/notificationText";
import { CommandError, type Dragoman } from "../daemon/command";
import { Lifecycle } from "../daemon/lifecycle";
import type { ServerState } from "../daemon/status";
import type { DaemonWatcher } from "../daemon/daemonWatcher";
import { sessionLabel } from "../daemon/sessionLabel";
import { folderPaths, type ProgramFinder } from "../server/programFinder";
import { offerInstallation } from "../server/installCommand";
import type { Activity } from "./statusText";

const t = vscode.l10n.t;
const SEEN_WITHIN_MS = 10_000;
const OUTLIVES_SHOWN = "dragoman.toldThatItOutlives";

export class Server implements vscode.Disposable {
  /** The action on the server that this window is running. */
  activity: Activity | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: vscode.Disposable;

  constructor(
    readonly watcher: DaemonWatcher,
    readonly programs: ProgramFinder,
    private readonly memory: vscode.Memento,
    readonly log: vscode.LogOutputChannel,
  ) {
    this.subscriptions = vscode.Disposable.from(
      watcher.listen({ state: () => this.changed.fire(), died: () => this.showDied() }),
      programs.onDidSearch(() => this.changed.fire()),
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
    this.changed.dispose();
  }

  get state(): ServerState {
    return this.watcher.state;
  }

  /** The rules for several windows: off means never; one that runs is used; else this window starts it. */
  async autoStart(): Promise<void> {
    if (!settings().get<boolean>("autoStart", true)) return;
    if (
      !(await this.watcher.until(({ state }) => state !== "unknown", SEEN_WITHIN_MS)) ||
      this.state.state !== "stopped"
    )
      return;
    const dragoman = await this.programs.find();
    if (!dragoman) return offerInstallation(this);
    await this.attempt("looking", dragoman, async (lifecycle) => {
      if ((await lifecycle.setting("auto_start")) === false) return;
      await lifecycle.start(this.workspace, wantedPort());
      await this.showOutlivesWindow();
    });
  }

  /** A manual start takes over from the running server. */
  start(): Promise<void> {
    return this.change("starting", async (lifecycle) => {
      if (await lifecycle.takeOver(this.workspace, wantedPort(), () => this.confirmEnding()))
        await this.showOutlivesWindow();
    });
  }

  stop(): Promise<void> {
    return this.change("ending", async (lifecycle) => void (await lifecycle.stop(() => this.confirmEnding())));
  }

  restart(): Promise<void> {
    return this.change("starting", async (lifecycle) => void (await lifecycle.restart(() => this.confirmEnding())));
  }

  /** Exactly this port or none: a change that fails changes nothing. */
  changePort(port: number): Promise<void> {
    return this.change("starting", async (lifecycle) => {
      const { state: known } = this;
      const isElsewhere = known.state === "running" && known.status.port !== port;
      if (isElsewhere && !(await lifecycle.takeOver(known.status.workspace, port, () => this.confirmEnding()))) return;
      await lifecycle.set("port", String(port));
      if (settings().get("port") !== port) await settings().update("port", port, vscode.ConfigurationTarget.Global);
    });
  }

  /** Both the editor's settings and the daemon's must allow it. */
  async setAutoStart(isOn: boolean): Promise<void> {
    if (settings().get("autoStart") !== isOn)
      await settings().update("autoStart", isOn, vscode.ConfigurationTarget.Global);
    const dragoman = await this.programs.find();
    if (dragoman)
      await new Lifecycle(dragoman).set("auto_start", String(isOn)).catch((error: unknown) => this.showError(error));
    this.changed.fire();
  }

  /** With a command that is there; else the person is offered to install it. */
  async withProgram<T>(action: (dragoman: Dragoman) => Promise<T>): Promise<T | undefined> {
    const dragoman = await this.programs.find();
    if (!dragoman) return void (await offerInstallation(this));
    try {
      return await action(dragoman);
    } catch (error) {
      return void this.showError(error);
    }
  }

  /** The error that the failing program reported. */
  showError(error: unknown, show: () => unknown = () => vscode.commands.executeCommand("dragoman.showLog")): void {
    const { message, hint = "", code } = error as CommandError;
    this.log.error(error instanceof CommandError ? `${code}: ${message}` : String(error));
    const log = t("Show log");
    // Its hint names an option of the command line; here there is a button.
    const other = code === "port_taken" ? t("Choose another port…") : undefined;
    const words = notificationText(`Dragoman: ${message} ${other ? "" : hint}`.trim());
    void vscode.window.showErrorMessage(words, ...(other ? [other, log] : [log])).then((chosen) => {
      if (chosen === log) void show();
      else if (chosen) void vscode.commands.executeCommand("dragoman.changePort");
    });
  }

  private get workspace(): string {
    return folderPaths()[0] ?? "";
  }

  private async change(newActivity: Activity, action: (lifecycle: Lifecycle) => Promise<void>): Promise<void> {
    const dragoman = await this.programs.find();
    if (!dragoman) return offerInstallation(this);
    await this.attempt(newActivity, dragoman, action);
  }

  /** One thing after another: two at once would each undo what the other does. */
  private async attempt(
    newActivity: Activity,
    dragoman: Dragoman,
    action: (lifecycle: Lifecycle) => Promise<void>,
  ): Promise<void> {
    if (this.activity)
      return void vscode.window.showInformationMessage(
        t("Another change to the server is in progress. Try again when it is done."),
      );
    this.setActivity(newActivity);
    try {
      await action(new Lifecycle(dragoman));
    } catch (error) {
      this.showError(error);
    } finally {
      this.setActivity(undefined);
    }
  }

  private setActivity(newActivity: Server["activity"]): void {
    this.activity = newActivity;
    this.changed.fire();
  }

  private async confirmEnding(): Promise<boolean> {
    const sessions = this.state.state === "running" ? this.state.status.sessions : [];
    const listed = (all: typeof sessions) =>
      all.map((lifecycle) => notificationText(`${sessionLabel(lifecycle, t)} (${lifecycle.id})`));
    const continuing = listed(sessions.filter(({ ends }) => ends === false));
    const continuingLines = continuing.length
      ? [t("These continue in their editor and are lent again when the server is back:"), ...continuing]
      : [];
    const detail = [...listed(sessions.filter(({ ends }) => ends !== false)), ...continuingLines].join("\n");
    const end = t("End them");
    const question = t("Live sessions will end with the running server.");
    return (await vscode.window.showWarningMessage(question, { modal: true, detail }, end)) === end;
  }

  /** The person did not stop it, so a notice is needed. */
  private showDied(): void {
    if (this.activity) return;
    const [start, log] = [t("Start"), t("Show log")];
    const words = t("The Dragoman server stopped unexpectedly. Its sessions are lost.");
    void vscode.window.showWarningMessage(words, start, log).then((chosen) => {
      // A server that was started in the meantime is not replaced.
      if (chosen === start)
        return this.change("starting", (lifecycle) => lifecycle.start(this.workspace, wantedPort()));
      return chosen === log ? vscode.commands.executeCommand("dragoman.showLog") : undefined;
    });
  }

  /** Shown once: people do not expect a server to outlive the window that started it. */
  private async showOutlivesWindow(): Promise<void> {
    if (this.memory.get(OUTLIVES_SHOWN)) return;
    await this.memory.update(OUTLIVES_SHOWN, true);
    const stop = t("Stop it");
    const words = t(
      "The Dragoman server keeps running when this window closes, so that agents can use it. The Stop command stops it.",
    );
    void vscode.window
      .showInformationMessage(words, stop)
      .then((chosen) => (chosen === stop ? this.stop() : undefined));
  }
}

export function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("dragoman");
}

export function wantedPort(): number | null {
  return settings().get<number | null>("port", null);
}
