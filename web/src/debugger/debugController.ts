/** The state and the actions of the debugger view: sessions, the selected stop, breakpoints, output, watches. */
import type { ReactiveController, ReactiveControllerHost } from "lit";
import { router } from "../app/router";
import { feed, post, t, RequestError, type FeedRow } from "../link";
import { fetchEvents } from "../link/feed";
import { coalesced } from "../parts/coalesced";
import type { Breakpoint, Frame, Page, Scope, Session, Stop, ErrorNotice } from "./toolResults";
import { FEED_KINDS, TIMELINE_KINDS } from "../replay/timelineEntries";
import { BreakpointList } from "./breakpointList";
import { LaunchConfigurations } from "./launchConfigurations";
import { SessionOutput } from "./sessionOutput";
import { SessionHistory } from "../replay/sessionHistory";
import { SourceFile } from "./sourceFile";
import { callToolIn, folders, sessionsIn } from "./tools";
import { toolErrorNotice, errorNotice } from "./tools";
import { Watches, type FrameContext } from "./watches";

/** A step that ends within this time is shown at once; the feed reports a longer one. */
const WAITS_S = 1;
const HOLD_S = 120;
const OUTPUT_EVERY_MS = 500;
const VIEW = "debugger";
/** How many events are searched for earlier actions: a program's output may lie between them. */
const SEARCHED = 5000;
const LIVE = new Set(["Starting", "Running", "Stopped"]);
/** After these events, values of a stopped program may have changed: a client set one, or evaluated something. */
const CHANGES = new Set(["debug.variable_set", "debug.evaluated"]);

export class DebugController implements ReactiveController {
  sessions: Session[] = [];
  /** Folders with something to debug; the daemon's own is the first. */
  folders: string[] = [];
  /** The workspace of these configurations, breakpoints and files. */
  workspace = "";
  selected = "";
  stop: Stop | null = null;
  frame: Frame | null = null;
  scopes: Scope[] = [];
  text: SourceFile | null = null;
  /** The line that was asked to be seen, and how often: the same may be asked for again. */
  revealed = { line: 0, times: 0 };
  error: ErrorNotice | null = null;
  /** The notice after an action that succeeded. */
  notice = "";
  busy = false;
  /** The stop at which the command in progress was given. */
  private busySinceStop = 0;
  /** What was pressed for the next stop, which may be shown before that command is answered. */
  private next: (() => void) | null = null;
  readonly history = new SessionHistory();
  readonly configurations = new LaunchConfigurations(() => this.host.requestUpdate());
  readonly breakpoints = new BreakpointList(
    (tool, args) => this.runToolAndRefresh(tool, args),
    () => this.host.requestUpdate(),
  );
  readonly output = new SessionOutput(() => this.host.requestUpdate());
  readonly watches = new Watches(() => this.host.requestUpdate());
  private unsubscribe = () => {};
  /** Up to where what happened before is still to be read; 0 where it was. */
  private unreadHistory = 0;
  private timer = 0;
  private refreshTimer = 0;
  /** Counts the sessions that were turned to, the same again as well. */
  private selectionCount = 0;
  /** Another client changed something at the selected stop. */
  private areValuesOld = false;
  /** The stop at which the watches were evaluated. They are evaluated only while the view is visible. */
  private watchedAt: Frame | null = null;
  /** A session that was started in the meantime is shown, unless another one is being debugged here. */
  private started = "";
  /** The last request that has not been done. */
  private refusedCall: { tool: string; args: Record<string, unknown> } | null = null;
  /** The target of the address, until it is shown. */
  private routeTarget: readonly string[] | null = null;
  /**
   * Whether the session's state is known. A stop from before the first look does not move the person from another
   * session.
   */
  private isFollowed = false;
  /** A person chose a folder: what others do elsewhere does not take them from it. */
  private staysInFolder = false;

  constructor(private readonly host: ReactiveControllerHost & HTMLElement) {
    host.addController(this);
  }

  hostConnected(): void {
    this.routeTarget = router.parts(VIEW);
    router.addEventListener("navigated", this.routeChanged);
    this.unsubscribe = feed.subscribe(FEED_KINDS, {
      events: (rows) => this.handleEvents(rows),
      reset: ({ sequence }) => void this.loadAll(sequence),
      erased: () => this.history.clear(),
    });
    this.timer = window.setInterval(() => this.poll(), OUTPUT_EVERY_MS);
  }

  hostDisconnected(): void {
    router.removeEventListener("navigated", this.routeChanged);
    this.unsubscribe();
    clearInterval(this.timer);
    clearTimeout(this.refreshTimer);
    this.refreshTimer = 0;
  }

  private readonly routeChanged = (): void => {
    if (router.view !== VIEW) return;
    this.routeTarget = router.parts(VIEW);
    void this.refresh();
  };

  get session(): Session | undefined {
    return this.sessions.find(({ session_id }) => session_id === this.selected);
  }

  /** The view may be visible again: do what was deferred until then. */
  poll(): void {
    if (!this.isVisible) return;
    if (this.unreadHistory) void this.attempt(this.readHistory());
    void this.attempt(this.configurations.readIfOld());
    if (this.session?.state === "Running") void this.output.read();
    if (this.frame && this.watchedAt !== this.frame) void this.attempt(this.evaluateWatches());
  }

  private get isVisible(): boolean {
    return !document.hidden && this.host.checkVisibility();
  }

  get isLive(): boolean {
    return LIVE.has(this.session?.state ?? "");
  }

  private async loadAll(sequence: number): Promise<void> {
    try {
      await this.load(sequence);
    } catch (error) {
      this.reportError(error);
    }
  }

  private async load(sequence: number): Promise<void> {
    this.unreadHistory = sequence;
    await this.attempt(this.readHistory());
    await this.refresh();
    await this.configurations.read(this.workspace);
    if (!this.text) this.openFirst();
    else this.text.reload();
  }

  /** One at a time, until it has arrived: its connection may be lost while the feed continues. */
  private readonly readHistory = coalesced(async () => {
    const upto = this.unreadHistory;
    if (!upto) return;
    this.history.add(await fetchEvents(Math.max(0, upto - SEARCHED), upto, [...TIMELINE_KINDS]));
    if (this.unreadHistory === upto) this.unreadHistory = 0;
    this.host.requestUpdate();
  });

  private call(tool: string, args: Record<string, unknown> = {}) {
    return callToolIn(this.workspace, tool, args);
  }

  /** Something to set a breakpoint in before anything runs. */
  private openFirst(): void {
    const named = this.breakpoints.all.find(({ source }) => source)?.source?.path;
    const path = named ?? this.configurations.program();
    if (path) this.open(path, 0);
  }

  private handleEvents(rows: FeedRow[]): void {
    this.history.add(rows);
    this.host.requestUpdate();
    this.areValuesOld ||= rows.some(
      ({ event }) => CHANGES.has(event.kind) && event.session === this.selected && event.body?.["by"] !== "page",
    );
    const started = rows.findLast(({ event }) => event.kind === "debug.started")?.event.session;
    if (started) {
      this.started = started;
      this.text?.reload();
    }
    this.refreshTimer ||= window.setTimeout(() => {
      this.refreshTimer = 0;
      void this.refresh();
    }, 30);
  }

  readonly refresh = coalesced(async () => {
    await this.read().catch((error: unknown) => this.reportError(error));
    this.host.requestUpdate();
  });

  /** The page frame reports a lost connection; this shows what the daemon refused. */
  private reportError(error: unknown): void {
    if (error instanceof RequestError) this.error = errorNotice(error);
  }

  private async attempt(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.reportError(error);
      this.host.requestUpdate();
    }
  }

  private async read(): Promise<void> {
    const { own, all } = await folders();
    this.folders = [own, ...all.filter((it) => it !== own)];
    if (!this.workspace) this.setWorkspace(own);
    const listed = await Promise.all(this.folders.map((workspace) => sessionsIn(workspace)));
    this.sessions = listed.flat();
    this.selectRouteTarget();
    this.selectDefault();
    await this.moveToSession();
    const { data } = await this.call("get_breakpoints");
    this.breakpoints.all = (data["breakpoints"] ?? []) as Breakpoint[];
    this.host.requestUpdate();
    void this.output.read();
    await this.readStop();
    void this.attempt(this.loadHistory());
    await this.showRouteStop();
  }

  /** In parallel with live updates: the next stop does not wait for the earlier ones. */
  private async loadHistory(): Promise<void> {
    await this.history.loadStops(this.workspace, this.selected);
    this.host.requestUpdate();
  }

  /** At the session that the address names. */
  private selectRouteTarget(): void {
    const [session] = this.routeTarget ?? [];
    if (!session || session === this.selected) return;
    if (this.sessions.some(({ session_id }) => session_id === session)) {
      this.staysInFolder = false;
      this.setSelected(session);
    } else {
      this.routeTarget = null;
      this.notice = t("The session in this address no longer exists.");
    }
  }

  /** At the stop that it names, else at the present. */
  private async showRouteStop(): Promise<void> {
    const [session, stop] = this.routeTarget ?? [];
    this.routeTarget = null;
    if (session !== this.selected) return;
    if (Number(stop)) await this.showPastStop(Number(stop));
    else if (this.history.pastStop) this.showPresent();
  }

  /** A file may have been opened before it was known where this is. */
  private setWorkspace(own: string): void {
    this.workspace = own;
    if (this.text) this.text.workspace = own;
  }

  /**
   * The default session: the one that was just started, else the newest live one, here or elsewhere, else the one that
   * ended last in this folder.
   */
  private selectDefault(): void {
    const near = this.sessions.filter(({ workspace }) => !this.staysInFolder || workspace === this.workspace);
    const started = this.sessions.find(({ session_id }) => session_id === this.started);
    if (started) this.started = "";
    if (started && started.session_id !== this.selected && near.includes(started) && !this.isLive)
      this.setSelected(started.session_id);
    // A list may be older than what was started.
    if (this.session || (this.selected && this.selected === this.started)) return;
    const isHere = ({ workspace }: Session) => workspace === this.workspace;
    const live = near.filter(({ state }) => LIVE.has(state));
    this.setSelected((live.findLast(isHere) ?? live.at(-1) ?? near.findLast(isHere))?.session_id ?? "");
  }

  /** Selecting a session selects its folder. */
  private async moveToSession(): Promise<void> {
    const workspace = this.session?.workspace ?? this.workspace;
    if (workspace !== this.workspace) await this.moveTo(workspace);
  }

  private async moveTo(workspace: string): Promise<void> {
    this.workspace = workspace;
    if (this.session && this.session.workspace !== workspace)
      this.setSelected(this.sessions.find((it) => it.workspace === workspace)?.session_id ?? "");
    await this.configurations.read(this.workspace);
  }

  selectFolder(workspace: string): void {
    this.staysInFolder = true;
    void this.attempt(this.moveTo(workspace).then(() => this.refresh()));
  }

  select(id: string): void {
    if (id === this.selected) return;
    this.staysInFolder = false;
    this.routeTarget = null;
    router.push(VIEW, id);
    this.setSelected(id);
    void this.refresh().then(() => this.attempt(this.openSourceOf(id)));
  }

  /** For a session that is not stopped: its last known location, or else the program it runs. */
  private async openSourceOf(id: string): Promise<void> {
    if (this.session?.state === "Stopped") return;
    const seen = this.history.entries.find(({ session, path }) => session === id && path);
    const name = this.session?.name ?? "";
    const path = seen?.path ?? (this.configurations.program(name) || name);
    const isThere = seen || (path && !(await this.call("get_source", { file_path: path, line: 1, count: 1 })).is_error);
    if (isThere && id === this.selected) this.open(path, seen?.line ?? 0);
  }

  private setSelected(id: string): void {
    this.selected = id;
    this.selectionCount++;
    this.isFollowed = false;
    this.history.showPresent();
    this.stop = null;
    this.frame = null;
    this.scopes = [];
    this.output.setSession(id, this.session?.workspace ?? this.workspace);
    if (!this.routeTarget) router.replace(VIEW, id);
  }

  /** The current stop. Run control names a stop, so the page can resume only from a stop that it has read. */
  private async readStop(): Promise<void> {
    const session = this.session;
    if (!session && this.selected) return; // it was started after the list was read
    if (session?.state !== "Stopped") {
      this.stop = null;
      this.frame = null;
      this.scopes = [];
      this.watches.forgetValues();
    } else if (this.stop?.session_id !== session.session_id || this.stop.stop_number !== session.stop_number) {
      const { data } = await this.call("wait_for_stop", { session_id: session.session_id, timeout_s: 0 });
      await this.setStop(data["stop_event_data"] as Stop | undefined);
    } else if (this.frame && this.areValuesOld) await this.readValues(this.frame);
    this.isFollowed = true;
  }

  private async setStop(stop: Stop | undefined): Promise<void> {
    if (!stop || stop.session_id !== this.selected) return;
    if (this.stop?.session_id === stop.session_id && this.stop.stop_number === stop.stop_number) return;
    this.stop = stop;
    if (this.isFollowed) {
      this.history.showPresent();
      if (!this.routeTarget) router.replace(VIEW, this.selected);
    }
    if (this.session) Object.assign(this.session, { state: "Stopped", stop_number: stop.stop_number });
    const at = stop.call_stack.find(({ frame_id }) => frame_id === stop.at_frame_id) ?? stop.call_stack[0];
    if (at) await this.showFrame(at);
  }

  /** The frame that values belong to: values of the same frame can be compared. */
  get valuesContext(): string {
    const { frame, stop } = this;
    if (!frame || !stop) return "";
    const above = stop.call_stack.findIndex(({ frame_id }) => frame_id === frame.frame_id);
    return `${this.selectionCount} ${stop.total_frames - above} ${frame.file_path} ${frame.function_name}`;
  }

  selectFrame(frame: Frame): void {
    void this.attempt(this.showFrame(frame));
  }

  private async showFrame(frame: Frame): Promise<void> {
    this.frame = frame;
    if (frame.file_path && !this.history.pastStop) this.open(frame.file_path, frame.line_number);
    this.host.requestUpdate();
    await this.readValues(frame);
  }

  private async readValues(frame: Frame): Promise<void> {
    this.areValuesOld = false;
    const at = { session_id: this.selected, frame_id: frame.frame_id };
    const [{ data, is_error }] = await Promise.all([this.call("get_scopes", at), this.evaluateWatches()]);
    if (this.frame !== frame) return;
    this.scopes = is_error ? [] : (data["scopes"] as Scope[]);
    this.host.requestUpdate();
  }

  private async evaluateWatches(): Promise<void> {
    if (!this.isVisible) return;
    const { frame } = this;
    this.watchedAt = frame;
    try {
      await this.watches.evaluate(this.frameContext);
    } catch (error) {
      // A lost connection, say. The next poll tries again, instead of showing nothing until the next stop.
      if (this.watchedAt === frame) this.watchedAt = null;
      throw error;
    }
  }

  private get frameContext(): FrameContext | null {
    return this.frame && { workspace: this.workspace, session_id: this.selected, frame_id: this.frame.frame_id };
  }

  /** A past stop of the selected session, by its number. */
  async showPastStop(number: number): Promise<void> {
    this.routeTarget = null; // a person's own choice counts more than where the address led
    const isPresent = this.session?.state === "Stopped" && number === this.stop?.stop_number;
    if (isPresent) return this.showPresent();
    router.push(VIEW, this.selected, String(number));
    try {
      const then = await this.history.showStop(this.workspace, this.selected, number);
      if (then?.path) this.open(then.path, then.line);
    } catch (error) {
      this.error = { message: (error as Error).message, hint: "" };
    }
    this.host.requestUpdate();
  }

  showPresent(): void {
    this.routeTarget = null;
    router.push(VIEW, this.selected);
    this.history.showPresent();
    if (this.frame?.file_path) this.open(this.frame.file_path, this.frame.line_number);
    this.host.requestUpdate();
  }

  get lastStop(): number {
    return Math.max(this.stop?.stop_number ?? 0, this.history.lastStop(this.selected));
  }

  open(path: string, line: number): void {
    this.revealed = { line, times: this.revealed.times + 1 };
    if (!this.text?.is(path, this.workspace))
      this.text = new SourceFile(path, this.workspace, () => this.host.requestUpdate());
    this.host.requestUpdate();
    this.text.line(Math.max(0, line - 1));
  }

  async variables(reference: number, start: number, count: number): Promise<Page> {
    const { data, is_error, text } = await this.call("get_variables", {
      session_id: this.selected,
      variables_reference: reference,
      start,
      count,
    });
    if (is_error) throw new Error(String(data["message"] ?? text));
    return data as unknown as Page;
  }

  async watch(expression: string): Promise<void> {
    this.watches.add(expression);
    await this.attempt(this.watches.evaluate(this.frameContext));
  }

  start(what: { configuration_name: string } | { program: string }): Promise<void> {
    return this.act("start_debugging", { ...what, timeout_s: WAITS_S });
  }

  run(tool: string, args: Record<string, unknown> = {}): Promise<void> {
    const waits = tool === "stop_debugging" ? {} : { timeout_s: WAITS_S };
    return this.act(tool, { session_id: this.selected, ...waits, ...args });
  }

  /** The person has seen what would run; what was refused is tried again. */
  async trust(folder: string): Promise<void> {
    const again = this.refusedCall;
    try {
      await post("/api/trust", { folder });
      this.error = null;
      if (again) await this.act(again.tool, again.args);
    } catch (error) {
      this.error = errorNotice(error);
    }
    this.host.requestUpdate();
  }

  async stopWaiting(): Promise<void> {
    try {
      const { count } = await post<{ count: number }>("/api/debug/stop-waiting", { session_id: this.selected });
      this.error = null;
      this.notice =
        count > 1 ? t("Ended {count} waits.", { count }) : t(count ? "Ended one wait." : "No calls were waiting.");
    } catch (error) {
      this.error = errorNotice(error);
    }
    this.host.requestUpdate();
  }

  /** Commands that resume a program: one at a time, and after the breakpoints that were clicked before. */
  private async act(tool: string, args: Record<string, unknown>): Promise<void> {
    this.busy = true;
    this.busySinceStop = this.stop?.stop_number ?? 0;
    this.host.requestUpdate();
    await this.breakpoints.settled;
    await this.runTool(tool, args);
    this.busy = false; // whatever is pressed next is meant for the stop that was just shown
    this.host.requestUpdate();
    const next = this.next;
    this.next = null;
    if (next) next();
    else await this.refresh();
  }

  /** Keep a program at its stop that would soon run on. */
  async hold(): Promise<void> {
    await this.runToolAndRefresh("wait_for_stop", { session_id: this.selected, hold_s: HOLD_S, timeout_s: 0 });
    this.host.requestUpdate();
  }

  /** Take what was pressed while a command is in progress, if it was meant for the stop after that command. */
  whenDone(action: () => void): void {
    if (this.busy && this.stop && this.stop.stop_number !== this.busySinceStop) this.next = action;
  }

  private async runToolAndRefresh(tool: string, args: Record<string, unknown>): Promise<void> {
    await this.runTool(tool, args);
    await this.refresh();
  }

  private async runTool(tool: string, args: Record<string, unknown>): Promise<void> {
    this.error = null;
    this.notice = "";
    try {
      const { data, text, is_error } = await this.call(tool, args);
      if (is_error) [this.error, this.refusedCall] = [toolErrorNotice(data, text), { tool, args }];
      else this.selectStarted(tool, String(data["session_id"] ?? ""));
      await this.setStop(data["stop_event_data"] as Stop | undefined);
    } catch (error) {
      this.error = errorNotice(error);
    }
  }

  private selectStarted(tool: string, id: string): void {
    if (tool !== "restart_debugging" && (tool !== "start_debugging" || id === this.selected)) return;
    this.started = id;
    this.setSelected(id);
  }
}
