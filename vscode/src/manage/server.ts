/** The server as this window manages it: what is known of it, and what the person wants of it. */
import * as vscode from "vscode";

import { plain } from "../bridge/plain";
import { Failed, type Dragoman } from "../daemon/command";
import { Life } from "../daemon/life";
import type { Known } from "../daemon/status";
import type { Watch } from "../daemon/watch";
import { named } from "../daemon/words";
import { folderPaths, type Programs } from "./program";
import { offerInstallation } from "./installing";
import type { Doing } from "./showing";

const t = vscode.l10n.t;
const SEEN_WITHIN_MS = 10_000;
const TOLD = "dragoman.toldThatItOutlives";

export class Server implements vscode.Disposable {
  /** What this window is doing to it just now. */
  doing: Doing | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly heard: vscode.Disposable;

  constructor(
    readonly watch: Watch,
    readonly programs: Programs,
    private readonly memory: vscode.Memento,
    readonly log: vscode.LogOutputChannel,
  ) {
    this.heard = vscode.Disposable.from(
      watch.listen({ known: () => this.changed.fire(), died: () => this.sayThatItDied() }),
      programs.onDidLook(() => this.changed.fire()),
    );
  }

  dispose(): void {
    this.heard.dispose();
    this.changed.dispose();
  }

  get known(): Known {
    return this.watch.known;
  }

  /** The rules for several windows: off means never; one that runs is used; else this window starts it. */
  async startByItself(): Promise<void> {
    if (!settings().get<boolean>("autoStart", true)) return;
    if (!(await this.watch.until(({ state }) => state !== "unknown", SEEN_WITHIN_MS)) || this.known.state !== "stopped") return;
    const dragoman = await this.programs.find();
    if (!dragoman) return offerInstallation(this);
    await this.attempt("looking", dragoman, async (life) => {
      if ((await life.setting("auto_start")) === false) return;
      await life.begin(this.workspace, wantedPort());
      await this.sayThatItOutlives();
    });
  }

  /** A start by hand takes over from whoever runs. */
  start(): Promise<void> {
    return this.change("starting", async (life) => {
      if (await life.takeOver(this.workspace, wantedPort(), () => this.agrees())) await this.sayThatItOutlives();
    });
  }

  stop(): Promise<void> {
    return this.change("ending", async (life) => void (await life.stop(() => this.agrees())));
  }

  restart(): Promise<void> {
    return this.change("starting", async (life) => void (await life.restart(() => this.agrees())));
  }

  /** Exactly this port or none: a change that fails changes nothing. */
  changePort(port: number): Promise<void> {
    return this.change("starting", async (life) => {
      const { known } = this;
      const isElsewhere = known.state === "running" && known.status.port !== port;
      if (isElsewhere && !(await life.takeOver(known.status.workspace, port, () => this.agrees()))) return;
      await life.set("port", String(port));
      if (settings().get("port") !== port) await settings().update("port", port, vscode.ConfigurationTarget.Global);
    });
  }

  /** In the editor's settings and in the daemon's: whichever says no, it stays no. */
  async setAutoStart(isOn: boolean): Promise<void> {
    if (settings().get("autoStart") !== isOn) await settings().update("autoStart", isOn, vscode.ConfigurationTarget.Global);
    const dragoman = await this.programs.find();
    if (dragoman) await new Life(dragoman).set("auto_start", String(isOn)).catch((error: unknown) => this.say(error));
    this.changed.fire();
  }

  /** With a command that is there; else the person is offered to install it. */
  async with<T>(action: (dragoman: Dragoman) => Promise<T>): Promise<T | undefined> {
    const dragoman = await this.programs.find();
    if (!dragoman) return void (await offerInstallation(this));
    try {
      return await action(dragoman);
    } catch (error) {
      return void this.say(error);
    }
  }

  /** What went wrong, in the words of who knows why. */
  say(error: unknown, show: () => unknown = () => vscode.commands.executeCommand("dragoman.showLog")): void {
    const { message, hint = "", code } = error as Failed;
    this.log.error(error instanceof Failed ? `${code}: ${message}` : String(error));
    const log = t("Show log");
    // Its hint names an option of the command line; here there is a button.
    const other = code === "port_taken" ? t("Choose another port…") : undefined;
    const words = plain(`Dragoman: ${message} ${other ? "" : hint}`.trim());
    void vscode.window.showErrorMessage(words, ...(other ? [other, log] : [log])).then((chosen) => {
      if (chosen === log) void show();
      else if (chosen) void vscode.commands.executeCommand("dragoman.changePort");
    });
  }

  private get workspace(): string {
    return folderPaths()[0] ?? "";
  }

  private async change(doing: Doing, action: (life: Life) => Promise<void>): Promise<void> {
    const dragoman = await this.programs.find();
    if (!dragoman) return offerInstallation(this);
    await this.attempt(doing, dragoman, action);
  }

  /** One thing after another: two at once would each undo what the other does. */
  private async attempt(doing: Doing, dragoman: Dragoman, action: (life: Life) => Promise<void>): Promise<void> {
    if (this.doing) return void vscode.window.showInformationMessage(t("The server is being changed just now; try again when that is done."));
    this.become(doing);
    try {
      await action(new Life(dragoman));
    } catch (error) {
      this.say(error);
    } finally {
      this.become(undefined);
    }
  }

  private become(doing: Server["doing"]): void {
    this.doing = doing;
    this.changed.fire();
  }

  private async agrees(): Promise<boolean> {
    const lives = this.known.state === "running" ? this.known.status.sessions : [];
    const listed = (all: typeof lives) => all.map((life) => plain(`${named(life, t)} (${life.id})`));
    const stays = listed(lives.filter(({ ends }) => ends === false));
    const goOn = stays.length ? [t("These go on in their editor, and are lent again when the server is back:"), ...stays] : [];
    const detail = [...listed(lives.filter(({ ends }) => ends !== false)), ...goOn].join("\n");
    const end = t("End them");
    const question = t("Live sessions would end with the server that runs.");
    return (await vscode.window.showWarningMessage(question, { modal: true, detail }, end)) === end;
  }

  /** Nobody asked for it, so nobody would look. */
  private sayThatItDied(): void {
    if (this.doing) return;
    const [start, log] = [t("Start"), t("Show log")];
    const words = t("The Dragoman server ended unexpectedly; its sessions are lost.");
    void vscode.window.showWarningMessage(words, start, log).then((chosen) => {
      // Whoever brought it back meanwhile is not replaced.
      if (chosen === start) return this.change("starting", (life) => life.begin(this.workspace, wantedPort()));
      return chosen === log ? vscode.commands.executeCommand("dragoman.showLog") : undefined;
    });
  }

  /** Once: nobody expects a server to outlive the window that started it. */
  private async sayThatItOutlives(): Promise<void> {
    if (this.memory.get(TOLD)) return;
    await this.memory.update(TOLD, true);
    const stop = t("Stop it");
    const words = t("The Dragoman server runs on when this window closes, so that agents keep it. It ends by the command Stop.");
    void vscode.window.showInformationMessage(words, stop).then((chosen) => (chosen === stop ? this.stop() : undefined));
  }
}

export function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("dragoman");
}

export function wantedPort(): number | null {
  return settings().get<number | null>("port", null);
}
