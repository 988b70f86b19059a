/** The state of the debugger view, kept in step with the daemon by its feed; the parts hold what the view shows. */
import type { ReactiveController, ReactiveControllerHost } from "lit";
import { router } from "../app/router";
import { BreakpointList } from "../breakpoints/breakpointList";
import { feed, RequestError, type FeedRow } from "../link";
import { fetchEvents } from "../link/feed";
import { coalesced } from "../parts/coalesced";
import type { Breakpoint } from "./toolResults";
import { SourceFile } from "../source/sourceFile";
import { FEED_KINDS, TIMELINE_KINDS, type TimelineEntry } from "../replay/timelineEntries";
import { AgentFollow } from "./agentFollow";
import { ConsoleLog } from "./console/consoleLog";
import { LaunchConfigurations } from "./launchConfigurations";
import { PaneLayout } from "./layout/paneLayout";
import { RunCommands } from "./runCommands";
import { SessionHistory } from "../replay/sessionHistory";
import { SessionList } from "./sessionList";
import { SessionOutput } from "./output/sessionOutput";
import { StopInspection } from "./stopInspection";
import { errorNotice } from "./tools";

export const VIEW = "debugger";
const OUTPUT_EVERY_MS = 500;
/** How many events are searched for earlier actions: a program's output may lie between them. */
const SEARCHED = 5000;
/** After these events, values of a stopped program may have changed: a client set one, or evaluated something. */
const CHANGES = new Set(["debug.variable_set", "debug.evaluated"]);

export class DebugController implements ReactiveController {
  text: SourceFile | null = null;
  /** The line that was asked to be seen, and how often: the same may be asked for again. */
  revealed = { line: 0, times: 0 };
  readonly sessions = new SessionList(this);
  readonly inspection = new StopInspection(this);
  readonly commands = new RunCommands(this);
  readonly history = new SessionHistory();
  readonly configurations = new LaunchConfigurations(() => this.changed());
  readonly breakpoints = new BreakpointList(
    (tool, args) => this.commands.runToolAndRefresh(tool, args),
    () => this.changed(),
    (tool, args) => this.sessions.call(tool, args),
  );
  readonly follow = new AgentFollow(() => this.changed());
  readonly layout = new PaneLayout(() => this.changed());
  readonly console = new ConsoleLog();
  readonly output = new SessionOutput(() => this.changed());
  private readonly panes = new Set<{ requestUpdate(): void }>();
  /** Set by what shows the timeline. */
  showValuesOf: (name: string) => void = () => {};
  private unsubscribe = () => {};
  /** Up to where what happened before is still to be read; 0 where it was. */
  private unreadHistory = 0;
  private timer = 0;
  private refreshTimer = 0;

  constructor(private readonly host: ReactiveControllerHost & HTMLElement) {
    host.addController(this);
  }

  /** What shows a part of this state is drawn again with the view. Returns how to end it. */
  attach(pane: { requestUpdate(): void }): () => void {
    this.panes.add(pane);
    return () => this.panes.delete(pane);
  }

  changed(): void {
    this.host.requestUpdate();
  }

  hostUpdate(): void {
    for (const pane of this.panes) pane.requestUpdate();
  }

  hostConnected(): void {
    this.sessions.routeTarget = router.parts(VIEW);
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
    this.sessions.routeTarget = router.parts(VIEW);
    void this.refresh();
  };

  /** The view may be visible again: do what was deferred until then. */
  poll(): void {
    if (!this.isVisible) return;
    if (this.unreadHistory) void this.attempt(this.readHistory());
    void this.attempt(this.configurations.readIfOld());
    if (this.sessions.current?.state === "Running") void this.output.read();
    void this.attempt(this.inspection.evaluateUnreadWatches());
  }

  get isVisible(): boolean {
    return !document.hidden && this.host.checkVisibility();
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
    await this.configurations.read(this.sessions.workspace);
    if (!this.text) this.openFirst();
    else this.text.reload();
  }

  /** One at a time, until it has arrived: its connection may be lost while the feed continues. */
  private readonly readHistory = coalesced(async () => {
    const upto = this.unreadHistory;
    if (!upto) return;
    const earlier = await fetchEvents(Math.max(0, upto - SEARCHED), upto, [...TIMELINE_KINDS]);
    this.history.add(earlier);
    this.console.add(earlier);
    if (this.unreadHistory === upto) this.unreadHistory = 0;
    this.changed();
  });

  /** Something to set a breakpoint in before anything runs. */
  private openFirst(): void {
    const named = this.breakpoints.all.find(({ source }) => source)?.source?.path;
    const path = named ?? this.configurations.program();
    if (path) this.open(path, 0);
  }

  private handleEvents(rows: FeedRow[]): void {
    this.history.add(rows);
    this.console.add(rows);
    this.follow.add(rows);
    this.changed();
    this.inspection.areValuesOld ||= rows.some(
      ({ event }) =>
        CHANGES.has(event.kind) && event.session === this.sessions.selected && event.body?.["by"] !== "page",
    );
    const started = rows.findLast(({ event }) => event.kind === "debug.started")?.event.session;
    if (started) {
      this.sessions.started = started;
      this.text?.reload();
    }
    this.refreshTimer ||= window.setTimeout(() => {
      this.refreshTimer = 0;
      void this.refresh();
    }, 30);
  }

  readonly refresh = coalesced(async () => {
    await this.read().catch((error: unknown) => this.reportError(error));
    this.changed();
  });

  /** The page frame reports a lost connection; this shows what the daemon refused. */
  private reportError(error: unknown): void {
    if (error instanceof RequestError) this.commands.error = errorNotice(error);
  }

  async attempt(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.reportError(error);
      this.changed();
    }
  }

  private async read(): Promise<void> {
    await this.sessions.read();
    const { data } = await this.sessions.call("get_breakpoints");
    this.breakpoints.all = (data["breakpoints"] ?? []) as Breakpoint[];
    this.changed();
    void this.output.read();
    await this.inspection.read();
    void this.attempt(this.loadHistory());
    await this.showRouteStop();
  }

  /** In parallel with live updates: the next stop does not wait for the earlier ones. */
  private async loadHistory(): Promise<void> {
    await this.history.load(this.sessions.workspace, this.sessions.selected, () => this.changed());
    this.changed();
  }

  /** At the moment that the address names: a stop, or what followed one; else at the present. */
  private async showRouteStop(): Promise<void> {
    const [session, stop, moment] = this.sessions.routeTarget ?? [];
    this.sessions.routeTarget = null;
    if (session !== this.sessions.selected) return;
    if (Number(moment)) await this.attempt(this.loadHistory());
    const entry = this.history.of(session).find(({ sequence }) => sequence === Number(moment));
    if (Number(moment) && entry) this.showMoment(entry, true);
    else if (Number(stop)) await this.showPastStop(Number(stop));
    else if (this.history.pastStop) this.showPresent();
  }

  /** What the start button and its key start: the chosen configuration, else the open file. */
  get startable(): { configuration_name: string } | { program: string } | null {
    const { all, current } = this.configurations;
    if (current) return { configuration_name: current.name };
    return all && this.text ? { program: this.text.path } : null;
  }

  async startShown(): Promise<void> {
    const { startable } = this;
    if (startable) await this.commands.start(startable);
  }

  /** A past stop of the selected session, by its number. */
  async showPastStop(number: number): Promise<void> {
    const { workspace, selected, current } = this.sessions;
    this.sessions.routeTarget = null; // a person's own choice counts more than where the address led
    const isPresent = current?.state === "Stopped" && number === this.inspection.stop?.stop_number;
    if (isPresent) return this.showPresent();
    router.push(VIEW, selected, String(number));
    try {
      const then = await this.history.showStop(workspace, selected, number);
      if (then?.path) this.open(then.path, then.line);
    } catch (error) {
      this.commands.error = { message: (error as Error).message, hint: "" };
    }
    this.changed();
  }

  /** What happened between two stops is shown with the earlier one. */
  showMoment(entry: TimelineEntry, isFinal: boolean): void {
    const { selected } = this.sessions;
    this.sessions.routeTarget = null;
    const then = this.history.showMoment(selected, entry);
    const moment = entry.stop ? "" : String(entry.sequence || "");
    if (isFinal) router.push(VIEW, selected, String(then.number || (moment ? 0 : "")), moment);
    if (then.path) this.open(then.path, then.line);
    this.changed();
  }

  showPresent(): void {
    const { frame } = this.inspection;
    this.sessions.routeTarget = null;
    router.push(VIEW, this.sessions.selected);
    this.history.showPresent();
    if (frame?.file_path) this.open(frame.file_path, frame.line_number);
    this.changed();
  }

  get lastStop(): number {
    return Math.max(this.inspection.stop?.stop_number ?? 0, this.history.lastStop(this.sessions.selected));
  }

  open(path: string, line: number): void {
    this.revealed = { line, times: this.revealed.times + 1 };
    const { workspace } = this.sessions;
    if (!this.text?.is(path, workspace)) this.setText(new SourceFile(path, workspace));
    this.changed();
    this.text?.want(Math.max(0, line - 1));
  }

  /** Of its lines, only how many there are concerns others than the source itself. */
  private setText(text: SourceFile): void {
    this.text = text;
    let shown = "";
    text.addEventListener("changed", () => {
      const now = `${text.total} ${text.error}`;
      if (now !== shown) this.changed();
      shown = now;
    });
  }
}
