/** What the debugger view knows and does: sessions, the stop that is looked at, breakpoints, output, watches. */
import type { ReactiveController, ReactiveControllerHost } from "lit";
import { ask, call, feed, post, t, Refused, type Row } from "../link";
import type { Breakpoint, Configuration, Frame, Page, Scope, Session, Stop, Trouble } from "./answers";
import { KINDS, doing, type Doing } from "./doings";
import { Lines } from "./lines";
import { Text } from "./text";
import { Watches } from "./watches";

/** A step that is over by then shows at once; of a longer one the feed tells. */
const WAITS_S = 1;
const OUTPUT_EVERY_MS = 500;
const OUTPUT_AT_ONCE = 50_000;
const KEPT = 500;
const LIVE = new Set(["Starting", "Running", "Stopped"]);

export class Desk implements ReactiveController {
  sessions: Session[] = [];
  chosen = "";
  stop: Stop | null = null;
  frame: Frame | null = null;
  scopes: Scope[] = [];
  breakpoints: Breakpoint[] = [];
  configurations: Configuration[] = [];
  doings: Doing[] = [];
  text: Text | null = null;
  /** The line that was asked to be seen, and how often: the same may be asked for again. */
  sought = { line: 0, times: 0 };
  trouble: Trouble | null = null;
  busy = false;
  readonly output = new Lines();
  readonly watches = new Watches(() => this.host.requestUpdate());
  private unsubscribe = () => {};
  private timer = 0;
  private soon = 0;
  private isReading = false;
  /** What somebody started since: it is shown, unless something else is being debugged here. */
  private started = "";

  constructor(private readonly host: ReactiveControllerHost & HTMLElement) {
    host.addController(this);
  }

  hostConnected(): void {
    this.unsubscribe = feed.subscribe(KINDS, {
      events: (rows) => this.heard(rows),
      reset: ({ sequence }) => void this.begin(sequence),
    });
    this.timer = window.setInterval(() => void this.readOutput(), OUTPUT_EVERY_MS);
  }

  hostDisconnected(): void {
    this.unsubscribe();
    clearInterval(this.timer);
  }

  get session(): Session | undefined {
    return this.sessions.find(({ session_id }) => session_id === this.chosen);
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
    const after = Math.max(0, sequence - 200);
    const past = await ask<{ events: Row[] }>(`/api/events?after=${after}&limit=200`);
    const known = this.doings[0]?.sequence ?? 0;
    this.keep(past.events.filter((row) => row.sequence > known));
    const { data } = await call("get_debugger_configurations");
    const listed = [...((data["configurations"] ?? []) as Configuration[]), ...((data["compounds"] ?? []) as Configuration[])];
    this.configurations = listed.filter(({ name }) => typeof name === "string");
    await this.refresh();
    if (!this.text) this.openFirst();
    else if (!this.text.total) this.readAgain();
  }

  /** Something to set a breakpoint in before anything runs. */
  private openFirst(): void {
    const named = this.breakpoints.find(({ source }) => source)?.source?.path;
    const program = this.configurations.find((it) => it.program && !/\$\{(?!workspaceFolder)/.test(it.program))?.program;
    const path = named ?? program?.replace(/^\$\{workspaceFolder\}\//, "");
    if (path) this.open(path, 0);
  }

  private heard(rows: Row[]): void {
    this.keep(rows);
    const started = rows.findLast(({ event }) => event.kind === "debug.started")?.event.session;
    if (started) {
      this.started = started;
      this.readAgain();
    }
    clearTimeout(this.soon);
    this.soon = window.setTimeout(() => void this.refresh(), 30);
  }

  private keep(rows: Row[]): void {
    const told = rows.map(doing).filter((it) => it !== null);
    this.doings = [...told.reverse(), ...this.doings].slice(0, KEPT);
    this.host.requestUpdate();
  }

  async refresh(): Promise<void> {
    try {
      await this.read();
    } catch (error) {
      this.failed(error);
    }
    this.host.requestUpdate();
  }

  /** Whether the daemon is there is the frame's to say; what it refuses is told here. */
  private failed(error: unknown): void {
    if (error instanceof Refused) this.trouble = told(error);
  }

  private async read(): Promise<void> {
    const [sessions, breakpoints] = await Promise.all([call("list_sessions"), call("get_breakpoints")]);
    this.sessions = (sessions.data["sessions"] ?? []) as Session[];
    this.breakpoints = (breakpoints.data["breakpoints"] ?? []) as Breakpoint[];
    if (this.started && !this.isLive) this.turnTo(this.started);
    this.started = "";
    if (!this.session) this.turnTo((this.sessions.find(({ state }) => LIVE.has(state)) ?? this.sessions.at(-1))?.session_id ?? "");
    await this.follow();
    await this.readOutput(true);
  }

  choose(id: string): void {
    if (id === this.chosen) return;
    this.turnTo(id);
    void this.refresh();
  }

  private turnTo(id: string): void {
    this.chosen = id;
    this.stop = null;
    this.frame = null;
    this.scopes = [];
    this.output.clear();
  }

  /** The stop that there is now; to have been told of it is also what lets this page send the program on from it. */
  private async follow(): Promise<void> {
    const session = this.session;
    if (session?.state !== "Stopped") {
      this.stop = null;
      this.frame = null;
      this.scopes = [];
      this.watches.forgetValues();
    } else if (this.stop?.session_id !== session.session_id || this.stop.stop_number !== session.stop_number) {
      const { data } = await call("wait_for_stop", { session_id: session.session_id, timeout_s: 0 });
      await this.stopped(data["stop_event_data"] as Stop | undefined);
    }
  }

  private async stopped(stop: Stop | undefined): Promise<void> {
    if (!stop || stop.session_id !== this.chosen) return;
    if (this.stop?.session_id === stop.session_id && this.stop.stop_number === stop.stop_number) return;
    this.stop = stop;
    const at = stop.call_stack.find(({ frame_id }) => frame_id === stop.at_frame_id) ?? stop.call_stack[0];
    if (at) await this.look(at);
  }

  async look(frame: Frame): Promise<void> {
    this.frame = frame;
    if (frame.file_path) this.open(frame.file_path, frame.line_number);
    this.host.requestUpdate();
    const at = { session_id: this.chosen, frame_id: frame.frame_id };
    const [{ data, is_error }] = await Promise.all([call("get_scopes", at), this.watches.evaluate(at)]);
    if (this.frame !== frame) return;
    this.scopes = is_error ? [] : (data["scopes"] as Scope[]);
    this.host.requestUpdate();
  }

  private readonly changed = () => this.host.requestUpdate();

  open(path: string, line: number): void {
    this.sought = { line, times: this.sought.times + 1 };
    if (this.text?.path !== path) this.text = new Text(path, this.changed);
    this.host.requestUpdate();
    this.text.line(Math.max(0, line - 1));
  }

  /** A file may have been edited since. */
  private readAgain(): void {
    if (!this.text) return;
    this.text = new Text(this.text.path, this.changed);
    this.text.line(Math.max(0, this.sought.line - 1));
  }

  async variables(reference: number, start: number, count: number): Promise<Page> {
    const { data, is_error, text } = await call("get_variables", {
      session_id: this.chosen, variables_reference: reference, start, count,
    });
    if (is_error) throw new Error(String(data["message"] ?? text));
    return data as unknown as Page;
  }

  at(path: string, line: number): Breakpoint | undefined {
    return this.breakpoints.find((it) => it.source && sameFile(it.source.path, path) && (it.actual_line ?? it.line) === line);
  }

  async toggle(path: string, line: number): Promise<void> {
    const there = this.at(path, line);
    if (there) await this.remove(there.id);
    else await this.act("set_breakpoint", { file_path: path, line_number: line });
  }

  remove(id: number): Promise<void> {
    return this.act("remove_breakpoint", { breakpoint_id: id });
  }

  async watch(expression: string): Promise<void> {
    this.watches.add(expression);
    await this.watches.evaluate(this.frame && { session_id: this.chosen, frame_id: this.frame.frame_id });
  }

  start(name: string): Promise<void> {
    return this.act("start_debugging", { configuration_name: name, timeout_s: WAITS_S });
  }

  run(tool: string, args: Record<string, unknown> = {}): Promise<void> {
    const waits = tool === "stop_debugging" ? {} : { timeout_s: WAITS_S };
    return this.act(tool, { session_id: this.chosen, ...waits, ...args });
  }

  async stopWaiting(): Promise<void> {
    const { count } = await post<{ count: number }>("/api/debug/stop-waiting", { session_id: this.chosen });
    this.trouble = { message: "", hint: t("Waits that were ended: {count}.", { count }) };
    this.host.requestUpdate();
  }

  private async act(tool: string, args: Record<string, unknown>): Promise<void> {
    this.busy = true;
    this.trouble = null;
    this.host.requestUpdate();
    try {
      const { data, text, is_error } = await call(tool, args);
      if (is_error) this.trouble = { message: String(data["message"] ?? text), hint: String(data["hint"] ?? "") };
      else if (tool === "restart_debugging" || (tool === "start_debugging" && data["session_id"] !== this.chosen))
        this.turnTo(String(data["session_id"]));
      await this.stopped(data["stop_event_data"] as Stop | undefined);
    } catch (error) {
      this.trouble = told(error);
    }
    this.busy = false;
    await this.refresh();
  }

  private async readOutput(anyway = false): Promise<void> {
    if (!this.chosen || this.isReading || (!anyway && (this.session?.state !== "Running" || !this.host.checkVisibility()))) return;
    this.isReading = true;
    const id = this.chosen;
    try {
      const asked = { session_id: id, cursor: this.output.cursor, max_chars: OUTPUT_AT_ONCE };
      const { data, is_error } = await call("get_output", asked);
      if (is_error || id !== this.chosen) return;
      if (data["missed"]) this.output.add(`\n… ${t("{count} characters before are not shown.", { count: Number(data["missed"]) })}\n`);
      this.output.add(data["output"] as string);
      this.output.cursor = data["cursor"] as number;
      this.host.requestUpdate();
      if (Number(data["left"]) > 0) queueMicrotask(() => void this.readOutput(true));
    } catch {
      return; // the frame says that the daemon is not there
    } finally {
      this.isReading = false;
    }
  }
}

/** A file opened by its place in the workspace is the one that a stack names in full. */
export function sameFile(full: string, shown: string): boolean {
  return full === shown || (!shown.startsWith("/") && full.endsWith(`/${shown}`));
}

function told(error: unknown): Trouble {
  return error instanceof Refused
    ? { message: error.message, hint: error.hint }
    : { message: t("The daemon did not answer in time."), hint: "" };
}
