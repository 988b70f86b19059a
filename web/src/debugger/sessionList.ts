/** The sessions of every folder, and which of them is shown: by a person's choice, by the address, or by default. */
import { router } from "../app/router";
import { t } from "../link";
import { VIEW, type DebugController } from "./debugController";
import type { Session } from "./toolResults";
import { callToolIn, folders, sessionsIn } from "./tools";

const LIVE = new Set(["Starting", "Running", "Stopped"]);

export class SessionList {
  all: Session[] = [];
  /** Folders with something to debug; the daemon's own is the first. */
  folders: string[] = [];
  /** The workspace of the shown configurations, breakpoints and files. */
  workspace = "";
  selected = "";
  /** Counts the sessions that were turned to, the same again as well. */
  selectionCount = 0;
  /** A session that was started in the meantime is shown, unless another one is being debugged here. */
  started = "";
  /** The target of the address, until it is shown. */
  routeTarget: readonly string[] | null = null;
  /** An ended session that is shown because none was live: the first live one takes its place. */
  private endedDefault = "";
  /** Ended sessions that the person closed. */
  private readonly closed = new Set<string>();
  /** A person chose a folder: what others do elsewhere does not take them from it. */
  private staysInFolder = false;

  constructor(private readonly controller: DebugController) {}

  /** Those that have not been closed. */
  get shown(): Session[] {
    return this.all.filter(({ session_id, state }) => state !== "Terminated" || !this.closed.has(session_id));
  }

  /** Of an ended session: the tab goes, the record stays. */
  close(id: string): void {
    this.closed.add(id);
    const others = this.shown;
    if (id === this.selected && others.length) this.select(others.at(-1)!.session_id);
    this.controller.changed();
  }

  get current(): Session | undefined {
    return this.all.find(({ session_id }) => session_id === this.selected);
  }

  get isLive(): boolean {
    return LIVE.has(this.current?.state ?? "");
  }

  call(tool: string, args: Record<string, unknown> = {}) {
    return callToolIn(this.workspace, tool, args);
  }

  async read(): Promise<void> {
    const { own, all } = await folders();
    this.folders = [own, ...all.filter((it) => it !== own)];
    if (!this.workspace) this.setWorkspace(own);
    const listed = await Promise.all(this.folders.map((workspace) => sessionsIn(workspace)));
    this.all = listed.flat();
    this.selectRouteTarget();
    const before = this.selected;
    this.selectDefault();
    const isFollowed = this.selectFollowed();
    await this.moveToSession();
    if (isFollowed && this.selected !== before) void this.controller.attempt(this.openSourceOf(this.selected));
  }

  /** At the session that the address names. */
  private selectRouteTarget(): void {
    const [session] = this.routeTarget ?? [];
    if (!session || session === this.selected) return;
    if (this.all.some(({ session_id }) => session_id === session)) {
      this.staysInFolder = false;
      this.setSelected(session);
    } else {
      this.routeTarget = null;
      this.controller.commands.notice = t("The session in this address no longer exists.");
    }
  }

  /** A file may have been opened before it was known where this is. */
  private setWorkspace(own: string): void {
    this.workspace = own;
    if (this.controller.text) this.controller.text.workspace = own;
  }

  /**
   * The default session: the one that was just started, else the newest live one, here or elsewhere, else the one that
   * ended last in this folder.
   */
  private selectDefault(): void {
    const near = this.all.filter(({ workspace }) => !this.staysInFolder || workspace === this.workspace);
    const started = this.all.find(({ session_id }) => session_id === this.started);
    if (started) this.started = "";
    if (started && started.session_id !== this.selected && near.includes(started) && !this.isLive)
      this.setSelected(started.session_id);
    const isHere = ({ workspace }: Session) => workspace === this.workspace;
    const live = near.filter(({ state }) => LIVE.has(state));
    const newest = live.findLast(isHere) ?? live.at(-1);
    // A list may be older than what was started.
    const isKept = this.current || (this.selected && this.selected === this.started);
    if (isKept && !(newest && this.selected === this.endedDefault)) return;
    const id = (newest ?? near.findLast(isHere))?.session_id ?? "";
    this.setSelected(id);
    this.endedDefault = newest ? "" : id;
  }

  /** Where an agent acts, wherever the person was. */
  private selectFollowed(): boolean {
    const followed = this.controller.follow.take(this.all);
    if (!followed) return false;
    this.staysInFolder = false;
    if (followed.session_id !== this.selected) this.setSelected(followed.session_id);
    return true;
  }

  /** Selecting a session selects its folder. */
  private async moveToSession(): Promise<void> {
    const workspace = this.current?.workspace ?? this.workspace;
    if (workspace !== this.workspace) await this.moveTo(workspace);
  }

  private async moveTo(workspace: string): Promise<void> {
    this.workspace = workspace;
    if (this.current && this.current.workspace !== workspace)
      this.setSelected(this.all.find((it) => it.workspace === workspace)?.session_id ?? "");
    await this.controller.configurations.read(this.workspace);
  }

  selectFolder(workspace: string): void {
    this.staysInFolder = true;
    void this.controller.attempt(this.moveTo(workspace).then(() => this.controller.refresh()));
  }

  select(id: string): void {
    this.endedDefault = "";
    if (id === this.selected) return;
    this.staysInFolder = false;
    this.routeTarget = null;
    router.push(VIEW, id);
    this.setSelected(id);
    void this.controller.refresh().then(() => this.controller.attempt(this.openSourceOf(id)));
  }

  selectStarted(tool: string, id: string): void {
    if (tool !== "restart_debugging" && (tool !== "start_debugging" || id === this.selected)) return;
    this.started = id;
    this.setSelected(id);
  }

  /** For a session that is not stopped: its last known location, or else the program it runs. */
  private async openSourceOf(id: string): Promise<void> {
    if (this.current?.state === "Stopped") return;
    const { history, configurations } = this.controller;
    const seen = history.newestOf(id, ({ path }) => path);
    const name = this.current?.name ?? "";
    const path = seen?.path ?? (configurations.program(name) || name);
    const isThere = seen || (path && !(await this.call("get_source", { file_path: path, line: 1, count: 1 })).is_error);
    if (isThere && id === this.selected) this.controller.open(path, seen?.line ?? 0);
  }

  private setSelected(id: string): void {
    this.selected = id;
    this.selectionCount++;
    this.controller.history.showPresent();
    this.controller.inspection.forget();
    this.controller.output.setSession(id);
    if (!this.routeTarget) router.replace(VIEW, id);
  }
}
