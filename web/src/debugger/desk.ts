/** What the debugger view knows and does: sessions, the stop that is looked at, breakpoints, output, watches. */
import type { ReactiveController, ReactiveControllerHost } from "lit";
import { place } from "../app/place";
import { feed, post, t, Refused, type Row } from "../link";
import { recorded } from "../link/feed";
import { anew } from "../parts/anew";
import type { Breakpoint, Frame, Page, Scope, Session, Stop, Trouble } from "./answers";
import { KINDS, TOLD_KINDS } from "./doings";
import { Marks } from "./marks";
import { Offers } from "./offers";
import { Printed } from "./printed";
import { Story } from "./story";
import { Text } from "./text";
import { callIn, folders, sessionsIn } from "./tools";
import { refused, told } from "./trouble";
import { Watches, type Spot } from "./watches";

/** A step that is over by then shows at once; of a longer one the feed tells. */
const WAITS_S = 1;
const OUTPUT_EVERY_MS = 500;
const VIEW = "debugger";
/** So far back what was done is looked for in the record, in which a program's output may stand between. */
const SEARCHED = 5000;
const LIVE = new Set(["Starting", "Running", "Stopped"]);
/** After these a stopped program may hold other values than before: somebody set one, or ran something in it. */
const CHANGES = new Set(["debug.variable_set", "debug.evaluated"]);

export class Desk implements ReactiveController {
  sessions: Session[] = [];
  /** Folders with something to debug; the daemon's own is the first. */
  folders: string[] = [];
  /** Whose configurations, breakpoints and files these are. */
  workspace = "";
  chosen = "";
  stop: Stop | null = null;
  frame: Frame | null = null;
  scopes: Scope[] = [];
  text: Text | null = null;
  /** The line that was asked to be seen, and how often: the same may be asked for again. */
  sought = { line: 0, times: 0 };
  trouble: Trouble | null = null;
  /** What came of a wish where nothing went wrong. */
  notice = "";
  busy = false;
  readonly story = new Story();
  readonly offers = new Offers(() => this.host.requestUpdate());
  readonly marks = new Marks((tool, args) => this.wish(tool, args), () => this.host.requestUpdate());
  readonly printed = new Printed(() => this.host.requestUpdate());
  readonly watches = new Watches(() => this.host.requestUpdate());
  private unsubscribe = () => {};
  /** Up to where what happened before is still to be read; 0 where it was. */
  private unread = 0;
  private timer = 0;
  private soon = 0;
  /** Counts the sessions that were turned to, the same again as well. */
  private turns = 0;
  /** Somebody else changed something of the stop that is looked at. */
  private areValuesOld = false;
  /** The stop whose watches were evaluated: nobody's expressions are run while nobody looks. */
  private watchedAt: Frame | null = null;
  /** What somebody started since: it is shown, unless something else is being debugged here. */
  private started = "";
  /** What was asked for last and not done. */
  private refusedWish: { tool: string; args: Record<string, unknown> } | null = null;
  /** Where the address leads, until it was followed. */
  private led: readonly string[] | null = null;
  /** Whether it is known how the session stands: a stop that was there before anybody looked takes nobody from another. */
  private isFollowed = false;
  /** A person chose a folder: what others do elsewhere does not take them from it. */
  private stays = false;

  constructor(private readonly host: ReactiveControllerHost & HTMLElement) {
    host.addController(this);
  }

  hostConnected(): void {
    this.led = place.of(VIEW);
    place.addEventListener("led", this.followAddress);
    this.unsubscribe = feed.subscribe(KINDS, {
      events: (rows) => this.heard(rows),
      reset: ({ sequence }) => void this.begin(sequence),
      erased: () => this.story.clear(),
    });
    this.timer = window.setInterval(() => this.lookAround(), OUTPUT_EVERY_MS);
  }

  hostDisconnected(): void {
    place.removeEventListener("led", this.followAddress);
    this.unsubscribe();
    clearInterval(this.timer);
    clearTimeout(this.soon);
    this.soon = 0;
  }

  private readonly followAddress = (): void => {
    if (place.view !== VIEW) return;
    this.led = place.of(VIEW);
    void this.refresh();
  };

  get session(): Session | undefined {
    return this.sessions.find(({ session_id }) => session_id === this.chosen);
  }

  /** Somebody may have come back to this view: what waited for that is done now. */
  lookAround(): void {
    if (!this.isSeen) return;
    if (this.unread) void this.quietly(this.readPast());
    void this.quietly(this.offers.readIfOld());
    if (this.session?.state === "Running") void this.printed.read();
    if (this.frame && this.watchedAt !== this.frame) void this.quietly(this.evaluateWatches());
  }

  private get isSeen(): boolean {
    return !document.hidden && this.host.checkVisibility();
  }

  get isLive(): boolean {
    return LIVE.has(this.session?.state ?? "");
  }

  private async begin(sequence: number): Promise<void> {
    try {
      await this.load(sequence);
    } catch (error) {
      this.failed(error);
    }
  }

  private async load(sequence: number): Promise<void> {
    this.unread = sequence;
    await this.quietly(this.readPast());
    await this.refresh();
    await this.offers.read(this.workspace);
    if (!this.text) this.openFirst();
    else this.text.again();
  }

  /** One at a time, and until it came: the connection that it is asked over may be lost while the feed goes on. */
  private readonly readPast = anew(async () => {
    const upto = this.unread;
    if (!upto) return;
    this.story.tell(await recorded(Math.max(0, upto - SEARCHED), upto, [...TOLD_KINDS]));
    if (this.unread === upto) this.unread = 0;
    this.host.requestUpdate();
  });

  private call(tool: string, args: Record<string, unknown> = {}) {
    return callIn(this.workspace, tool, args);
  }

  /** Something to set a breakpoint in before anything runs. */
  private openFirst(): void {
    const named = this.marks.all.find(({ source }) => source)?.source?.path;
    const path = named ?? this.offers.program();
    if (path) this.open(path, 0);
  }

  private heard(rows: Row[]): void {
    this.story.tell(rows);
    this.host.requestUpdate();
    this.areValuesOld ||= rows.some(({ event }) => CHANGES.has(event.kind) && event.session === this.chosen && event.body?.["by"] !== "page");
    const started = rows.findLast(({ event }) => event.kind === "debug.started")?.event.session;
    if (started) {
      this.started = started;
      this.text?.again();
    }
    this.soon ||= window.setTimeout(() => {
      this.soon = 0;
      void this.refresh();
    }, 30);
  }

  readonly refresh = anew(async () => {
    await this.read().catch((error: unknown) => this.failed(error));
    this.host.requestUpdate();
  });

  /** Whether the daemon is there is the frame's to say; what it refuses is told here. */
  private failed(error: unknown): void {
    if (error instanceof Refused) this.trouble = told(error);
  }

  private async quietly(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.failed(error);
      this.host.requestUpdate();
    }
  }

  private async read(): Promise<void> {
    const { own, all } = await folders();
    this.folders = [own, ...all.filter((it) => it !== own)];
    if (!this.workspace) this.adopt(own);
    const listed = await Promise.all(this.folders.map((workspace) => sessionsIn(workspace)));
    this.sessions = listed.flat();
    this.arrive();
    this.decide();
    await this.settle();
    const { data } = await this.call("get_breakpoints");
    this.marks.all = (data["breakpoints"] ?? []) as Breakpoint[];
    this.host.requestUpdate();
    void this.printed.read();
    await this.follow();
    await this.story.recall(this.workspace, this.chosen);
    await this.lookWhereLed();
  }

  /** At the session that the address names. */
  private arrive(): void {
    const [session] = this.led ?? [];
    if (!session || session === this.chosen) return;
    if (this.sessions.some(({ session_id }) => session_id === session)) {
      this.stays = false;
      this.turnTo(session);
    } else {
      this.led = null;
      this.notice = t("The session of this address is gone.");
    }
  }

  /** At the stop that it names, else at the present. */
  private async lookWhereLed(): Promise<void> {
    const [session, stop] = this.led ?? [];
    this.led = null;
    if (session !== this.chosen) return;
    if (Number(stop)) await this.lookBack(Number(stop));
    else if (this.story.then) this.lookAtNow();
  }

  /** A file may have been opened before it was known where this is. */
  private adopt(own: string): void {
    this.workspace = own;
    if (this.text) this.text.workspace = own;
  }

  /** What is looked at where nobody says: what was just started, else the newest that lives, here or elsewhere, else what ended last in this folder. */
  private decide(): void {
    const near = this.sessions.filter(({ workspace }) => !this.stays || workspace === this.workspace);
    const started = this.sessions.find(({ session_id }) => session_id === this.started);
    if (started) this.started = "";
    if (started && started.session_id !== this.chosen && near.includes(started) && !this.isLive) this.turnTo(started.session_id);
    if (this.session || (this.chosen && this.chosen === this.started)) return; // a list may be older than what was started
    const isHere = ({ workspace }: Session) => workspace === this.workspace;
    const live = near.filter(({ state }) => LIVE.has(state));
    this.turnTo((live.findLast(isHere) ?? live.at(-1) ?? near.findLast(isHere))?.session_id ?? "");
  }

  /** A session is looked at from its own folder. */
  private async settle(): Promise<void> {
    const workspace = this.session?.workspace ?? this.workspace;
    if (workspace !== this.workspace) await this.move(workspace);
  }

  private async move(workspace: string): Promise<void> {
    this.workspace = workspace;
    if (this.session && this.session.workspace !== workspace) this.turnTo(this.sessions.find((it) => it.workspace === workspace)?.session_id ?? "");
    await this.offers.read(this.workspace);
  }

  settleIn(workspace: string): void {
    this.stays = true;
    void this.quietly(this.move(workspace).then(() => this.refresh()));
  }

  choose(id: string): void {
    if (id === this.chosen) return;
    this.stays = false;
    this.led = null;
    place.go(VIEW, id);
    this.turnTo(id);
    void this.refresh().then(() => this.quietly(this.openOf(id)));
  }

  /** Of one that is not stopped: where it was seen last, else what it runs, as far as that can be told. */
  private async openOf(id: string): Promise<void> {
    if (this.session?.state === "Stopped") return;
    const seen = this.story.doings.find(({ session, path }) => session === id && path);
    const name = this.session?.name ?? "";
    const path = seen?.path ?? (this.offers.program(name) || name);
    const isThere = seen || (path && !(await this.call("get_source", { file_path: path, line: 1, count: 1 })).is_error);
    if (isThere && id === this.chosen) this.open(path, seen?.line ?? 0);
  }

  private turnTo(id: string): void {
    this.chosen = id;
    this.turns++;
    this.isFollowed = false;
    this.story.lookAtNow();
    this.stop = null;
    this.frame = null;
    this.scopes = [];
    this.printed.of(id, this.session?.workspace ?? this.workspace);
    if (!this.led) place.become(VIEW, id);
  }

  /** The stop that there is now; to have been told of it is also what lets this page send the program on from it. */
  private async follow(): Promise<void> {
    const session = this.session;
    if (!session && this.chosen) return; // it was started after the list was read
    if (session?.state !== "Stopped") {
      this.stop = null;
      this.frame = null;
      this.scopes = [];
      this.watches.forgetValues();
    } else if (this.stop?.session_id !== session.session_id || this.stop.stop_number !== session.stop_number) {
      const { data } = await this.call("wait_for_stop", { session_id: session.session_id, timeout_s: 0 });
      await this.stopped(data["stop_event_data"] as Stop | undefined);
    } else if (this.frame && this.areValuesOld) await this.readValues(this.frame);
    this.isFollowed = true;
  }

  private async stopped(stop: Stop | undefined): Promise<void> {
    if (!stop || stop.session_id !== this.chosen) return;
    if (this.stop?.session_id === stop.session_id && this.stop.stop_number === stop.stop_number) return;
    this.stop = stop;
    if (this.isFollowed) {
      this.story.lookAtNow();
      if (!this.led) place.become(VIEW, this.chosen);
    }
    if (this.session) Object.assign(this.session, { state: "Stopped", stop_number: stop.stop_number });
    const at = stop.call_stack.find(({ frame_id }) => frame_id === stop.at_frame_id) ?? stop.call_stack[0];
    if (at) await this.look(at);
  }

  /** Where values belong: those of the same frame can be compared. */
  get standpoint(): string {
    const { frame, stop } = this;
    if (!frame || !stop) return "";
    const above = stop.call_stack.findIndex(({ frame_id }) => frame_id === frame.frame_id);
    return `${this.turns} ${stop.total_frames - above} ${frame.file_path} ${frame.function_name}`;
  }

  lookAt(frame: Frame): void {
    void this.quietly(this.look(frame));
  }

  private async look(frame: Frame): Promise<void> {
    this.frame = frame;
    if (frame.file_path && !this.story.then) this.open(frame.file_path, frame.line_number);
    this.host.requestUpdate();
    await this.readValues(frame);
  }

  private async readValues(frame: Frame): Promise<void> {
    this.areValuesOld = false;
    const at = { session_id: this.chosen, frame_id: frame.frame_id };
    const [{ data, is_error }] = await Promise.all([this.call("get_scopes", at), this.evaluateWatches()]);
    if (this.frame !== frame) return;
    this.scopes = is_error ? [] : (data["scopes"] as Scope[]);
    this.host.requestUpdate();
  }

  private async evaluateWatches(): Promise<void> {
    if (!this.isSeen) return;
    this.watchedAt = this.frame;
    await this.watches.evaluate(this.spot);
  }

  private get spot(): Spot | null {
    return this.frame && { workspace: this.workspace, session_id: this.chosen, frame_id: this.frame.frame_id };
  }

  /** Of the session that is looked at: a stop of before, by its number. */
  async lookBack(number: number): Promise<void> {
    this.led = null; // a person's own choice counts more than where the address led
    const isPresent = this.session?.state === "Stopped" && number === this.stop?.stop_number;
    if (isPresent) return this.lookAtNow();
    place.go(VIEW, this.chosen, String(number));
    try {
      const then = await this.story.lookBack(this.workspace, this.chosen, number);
      if (then?.path) this.open(then.path, then.line);
    } catch (error) {
      this.trouble = { message: (error as Error).message, hint: "" };
    }
    this.host.requestUpdate();
  }

  lookAtNow(): void {
    this.led = null;
    place.go(VIEW, this.chosen);
    this.story.lookAtNow();
    if (this.frame?.file_path) this.open(this.frame.file_path, this.frame.line_number);
    this.host.requestUpdate();
  }

  get lastStop(): number {
    return Math.max(this.stop?.stop_number ?? 0, this.story.lastStop(this.chosen));
  }

  open(path: string, line: number): void {
    this.sought = { line, times: this.sought.times + 1 };
    if (!this.text?.is(path, this.workspace)) this.text = new Text(path, this.workspace, () => this.host.requestUpdate());
    this.host.requestUpdate();
    this.text.line(Math.max(0, line - 1));
  }

  async variables(reference: number, start: number, count: number): Promise<Page> {
    const { data, is_error, text } = await this.call("get_variables", {
      session_id: this.chosen, variables_reference: reference, start, count,
    });
    if (is_error) throw new Error(String(data["message"] ?? text));
    return data as unknown as Page;
  }

  async watch(expression: string): Promise<void> {
    this.watches.add(expression);
    await this.quietly(this.watches.evaluate(this.spot));
  }

  start(what: { configuration_name: string } | { program: string }): Promise<void> {
    return this.act("start_debugging", { ...what, timeout_s: WAITS_S });
  }

  run(tool: string, args: Record<string, unknown> = {}): Promise<void> {
    const waits = tool === "stop_debugging" ? {} : { timeout_s: WAITS_S };
    return this.act(tool, { session_id: this.chosen, ...waits, ...args });
  }

  /** The person has seen what would run; what was refused is tried again. */
  async trust(folder: string): Promise<void> {
    const again = this.refusedWish;
    try {
      await post("/api/trust", { folder });
      this.trouble = null;
      if (again) await this.act(again.tool, again.args);
    } catch (error) {
      this.trouble = told(error);
    }
    this.host.requestUpdate();
  }

  async stopWaiting(): Promise<void> {
    try {
      const { count } = await post<{ count: number }>("/api/debug/stop-waiting", { session_id: this.chosen });
      this.trouble = null;
      this.notice = count > 1 ? t("{count} waits were ended.", { count }) : t(count ? "One wait was ended." : "Nobody was waiting.");
    } catch (error) {
      this.trouble = told(error);
    }
    this.host.requestUpdate();
  }

  /** What sends a program on: one at a time, and after the breakpoints that were clicked before it. */
  private async act(tool: string, args: Record<string, unknown>): Promise<void> {
    this.busy = true;
    this.host.requestUpdate();
    await this.marks.settled;
    await this.perform(tool, args);
    this.busy = false; // whatever is pressed next is meant for the stop that was just shown
    this.host.requestUpdate();
    await this.refresh();
  }

  private async wish(tool: string, args: Record<string, unknown>): Promise<void> {
    await this.perform(tool, args);
    await this.refresh();
  }

  private async perform(tool: string, args: Record<string, unknown>): Promise<void> {
    this.trouble = null;
    this.notice = "";
    try {
      const { data, text, is_error } = await this.call(tool, args);
      if (is_error) [this.trouble, this.refusedWish] = [refused(data, text), { tool, args }];
      else this.turnToStarted(tool, String(data["session_id"] ?? ""));
      await this.stopped(data["stop_event_data"] as Stop | undefined);
    } catch (error) {
      this.trouble = told(error);
    }
  }

  private turnToStarted(tool: string, id: string): void {
    if (tool !== "restart_debugging" && (tool !== "start_debugging" || id === this.chosen)) return;
    this.started = id;
    this.turnTo(id);
  }
}
