/** The present stop of the selected session: its frames, the chosen one of them, and what its variables hold. */
import { router } from "../app/router";
import { RequestError } from "../link";
import { VIEW, type DebugController } from "./debugController";
import type { Frame, Page, Scope, Stop } from "./toolResults";
import { Threads, waitReport } from "./threads";
import type { VariableNode } from "./variables/variableTree";
import { Watches, type FrameContext } from "./variables/watches";

const MOST_CHARACTERS = 50_000;

export class StopInspection {
  stop: Stop | null = null;
  frame: Frame | null = null;
  scopes: Scope[] = [];
  readonly threads = new Threads();
  readonly watches = new Watches(() => this.controller.changed());
  /** Another client changed something at the selected stop. */
  areValuesOld = false;
  /** The stop at which the watches were evaluated. They are evaluated only while the view is visible. */
  private watchedAt: Frame | null = null;
  /**
   * Whether the session's state is known. A stop from before the first look does not move the person from another
   * session.
   */
  private isFollowed = false;

  constructor(private readonly controller: DebugController) {}

  /** Of the session that was selected before. */
  forget(): void {
    this.isFollowed = false;
    this.clear();
  }

  private clear(): void {
    this.stop = null;
    this.frame = null;
    this.scopes = [];
    this.threads.forget();
  }

  /** The current stop. Run control names a stop, so the page can resume only from a stop that it has read. */
  async read(): Promise<void> {
    const { sessions } = this.controller;
    const session = sessions.current;
    if (!session && sessions.selected) return; // it was started after the list was read
    if (session?.state !== "Stopped") {
      this.clear();
      this.watches.forgetValues();
    } else if (this.stop?.session_id !== session.session_id || this.stop.stop_number !== session.stop_number) {
      const { data } = await sessions.call("wait_for_stop", { session_id: session.session_id, timeout_s: 0 });
      await this.setStop(data["stop_event_data"] as Stop | undefined);
    } else if (this.frame && this.areValuesOld) await this.readValues(this.frame);
    this.isFollowed = true;
  }

  async setStop(stop: Stop | undefined): Promise<void> {
    const { sessions, history, follow } = this.controller;
    if (!stop || stop.session_id !== sessions.selected) return;
    if (this.stop?.session_id === stop.session_id && this.stop.stop_number === stop.stop_number) return;
    this.stop = stop;
    this.threads.forget();
    const isShown = !this.isFollowed || follow.leadsTo(sessions.selected);
    if (this.isFollowed && isShown) {
      history.showPresent();
      if (!sessions.routeTarget) router.replace(VIEW, sessions.selected);
    }
    if (sessions.current) Object.assign(sessions.current, { state: "Stopped", stop_number: stop.stop_number });
    const at = stop.call_stack.find(({ frame_id }) => frame_id === stop.at_frame_id) ?? stop.call_stack[0];
    void this.controller.attempt(this.readThreads());
    if (at) await this.showFrame(at, isShown);
  }

  /**
   * Nothing waits for it: a debugger may take long to say where each thread is. Another client may step meanwhile: what
   * is refused then is read again at the next stop.
   */
  private async readThreads(): Promise<void> {
    await this.threads.read(this.controller.sessions.selected).catch(ignoreRefused);
    this.controller.changed();
  }

  /** The call stack of another thread, at its top frame. */
  selectThread(thread: number): void {
    void this.controller.attempt(this.showThread(thread));
  }

  private async showThread(thread: number): Promise<void> {
    const { stop } = this;
    if (!stop) return;
    if (thread === stop.thread_id) {
      this.threads.stack = null;
      if (stop.call_stack[0]) await this.showFrame(stop.call_stack[0]);
      return;
    }
    const stack = await this.threads.readStack(this.controller.sessions.selected, thread);
    if (stack?.frames[0]) await this.showFrame(stack.frames[0]);
    this.controller.changed();
  }

  /** The frames that are shown: those of the stop, or of the thread that was chosen. */
  get shownStack(): { frames: Frame[]; total: number } | null {
    if (this.threads.stack) return this.threads.stack;
    return this.stop && { frames: this.stop.call_stack, total: this.stop.total_frames };
  }

  /** Stops a program that does not go on, and says where each thread and task of it is. */
  async findHang(): Promise<void> {
    const { commands, sessions } = this.controller;
    const data = await commands.run("pause_debugging");
    this.threads.waits = data && waitReport(sessions.selected, data);
    this.controller.changed();
  }

  /** The frame that values belong to: values of the same frame can be compared. */
  get valuesContext(): string {
    const { frame, stop } = this;
    if (!frame || !stop) return "";
    const shown = this.shownStack ?? { frames: stop.call_stack, total: stop.total_frames };
    const above = shown.frames.findIndex(({ frame_id }) => frame_id === frame.frame_id);
    const { selectionCount } = this.controller.sessions;
    const thread = this.threads.stack?.thread ?? "";
    return `${selectionCount} ${thread} ${shown.total - above} ${frame.file_path} ${frame.function_name}`;
  }

  selectFrame(frame: Frame): void {
    void this.controller.attempt(this.showFrame(frame));
  }

  private async showFrame(frame: Frame, opensSource = true): Promise<void> {
    this.frame = frame;
    if (opensSource && frame.file_path && !this.controller.history.pastStop)
      this.controller.open(frame.file_path, frame.line_number);
    this.controller.changed();
    await this.readValues(frame);
  }

  private async readValues(frame: Frame): Promise<void> {
    this.areValuesOld = false;
    const { sessions } = this.controller;
    const at = { session_id: sessions.selected, frame_id: frame.frame_id };
    const [{ data, is_error }] = await Promise.all([sessions.call("get_scopes", at), this.evaluateWatches()]);
    if (this.frame !== frame) return;
    this.scopes = is_error ? [] : (data["scopes"] as Scope[]);
    this.controller.changed();
  }

  /** What could not be evaluated unseen, or over a lost connection. */
  async evaluateUnreadWatches(): Promise<void> {
    if (this.frame && this.watchedAt !== this.frame) await this.evaluateWatches();
  }

  private async evaluateWatches(): Promise<void> {
    if (!this.controller.isVisible) return;
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

  async watch(expression: string): Promise<void> {
    this.watches.add(expression);
    await this.controller.attempt(this.watches.evaluate(this.frameContext));
  }

  private get frameContext(): FrameContext | null {
    const { workspace, selected: session_id } = this.controller.sessions;
    return this.frame && { workspace, session_id, frame_id: this.frame.frame_id };
  }

  readonly variables = async (reference: number, start: number, count: number, filter = ""): Promise<Page> => {
    const named = filter ? { filter } : {};
    const asked = { variables_reference: reference, start, count, ...named };
    return (await this.ask("get_variables", asked)) as unknown as Page;
  };

  /** A long value from beginning to end, as far as the daemon gives it. */
  readonly whole = async (container: number | null, node: VariableNode): Promise<string> => {
    if (container === null) return node.value;
    const asked = { variables_reference: container, filter: node.name, max_chars: MOST_CHARACTERS };
    const { variables } = (await this.ask("get_variables", asked)) as unknown as Page;
    return variables.find(({ name }) => name === node.name)?.value ?? node.value;
  };

  /** Sets a variable of the program; what it holds is read again, because others may have changed with it. */
  readonly assign = async (container: number | null, name: string, value: string): Promise<void> => {
    const where = container === null ? { frame_id: this.frame?.frame_id } : { variables_reference: container };
    await this.ask("set_variable", { name, value, ...where });
    if (this.frame) await this.readValues(this.frame);
  };

  /** Which stop of which session: what it gave to open is closed at the next. */
  get stopKey(): string {
    return this.stop ? `${this.stop.session_id}:${this.stop.stop_number}` : "";
  }

  /** In the console, for the person: also what changes the program, so its values are read again. */
  async evaluate(expression: string): Promise<void> {
    const { console, sessions } = this.controller;
    const { frame } = this;
    const own = console.begin(sessions.selected, expression, this.stopKey);
    this.controller.changed();
    try {
      const at = frame ? { frame_id: frame.frame_id } : {};
      const data = await this.ask("evaluate_expression", { expression, ...at, max_chars: MOST_CHARACTERS });
      console.finish(own, {
        result: String(data["result"]),
        type: typeof data["type"] === "string" ? data["type"] : "",
        reference: Number(data["variables_reference"]),
      });
      this.controller.changed();
      if (frame && frame === this.frame) await this.readValues(frame);
    } catch (error) {
      console.finish(own, { result: (error as Error).message, isError: true });
    }
    this.controller.changed();
  }

  private async ask(tool: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { sessions } = this.controller;
    const { data, is_error, text } = await sessions.call(tool, { session_id: sessions.selected, ...args });
    if (is_error) throw new Error(String(data["debugger_says"] ?? data["message"] ?? text));
    return data;
  }
}

function ignoreRefused(error: unknown): void {
  if (!(error instanceof RequestError)) throw error;
}
