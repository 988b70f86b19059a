/** Commands that start, resume and end a program: one at a time, and what went wrong with the last one. */
import { post, t } from "../link";
import type { DebugController } from "./debugController";
import type { ErrorNotice, Stop } from "./toolResults";
import { errorNotice, toolErrorNotice } from "./tools";

/** A step that ends within this time is shown at once; the feed reports a longer one. */
const WAITS_S = 1;
const HOLD_S = 120;

export class RunCommands {
  error: ErrorNotice | null = null;
  /** The notice after an action that succeeded. */
  notice = "";
  busy = false;
  /** The stop at which the command in progress was given. */
  private busySinceStop = 0;
  /** What was pressed for the next stop, which may be shown before that command is answered. */
  private next: (() => void) | null = null;
  /** The last request that has not been done. */
  private refusedCall: { tool: string; args: Record<string, unknown> } | null = null;

  constructor(private readonly controller: DebugController) {}

  async start(what: { configuration_name: string } | { program: string }): Promise<void> {
    await this.act("start_debugging", { ...what, timeout_s: WAITS_S });
  }

  /** What the tool answered; null if it was refused. */
  run(tool: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown> | null> {
    const waits = tool === "stop_debugging" ? {} : { timeout_s: WAITS_S };
    return this.act(tool, { session_id: this.controller.sessions.selected, ...waits, ...args });
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
    this.controller.changed();
  }

  async stopWaiting(): Promise<void> {
    try {
      const { count } = await post<{ count: number }>("/api/debug/stop-waiting", {
        session_id: this.controller.sessions.selected,
      });
      this.error = null;
      this.notice =
        count > 1 ? t("Ended {count} waits.", { count }) : t(count ? "Ended one wait." : "No calls were waiting.");
    } catch (error) {
      this.error = errorNotice(error);
    }
    this.controller.changed();
  }

  /** Keep a program at its stop that would soon run on. */
  async hold(): Promise<void> {
    await this.runToolAndRefresh("wait_for_stop", {
      session_id: this.controller.sessions.selected,
      hold_s: HOLD_S,
      timeout_s: 0,
    });
    this.controller.changed();
  }

  /** Commands that resume a program: one at a time, and after the breakpoints that were clicked before. */
  private async act(tool: string, args: Record<string, unknown>): Promise<Record<string, unknown> | null> {
    this.busy = true;
    this.busySinceStop = this.controller.inspection.stop?.stop_number ?? 0;
    this.controller.changed();
    await this.controller.breakpoints.settled;
    const data = await this.runTool(tool, args);
    this.busy = false; // whatever is pressed next is meant for the stop that was just shown
    this.controller.changed();
    const next = this.next;
    this.next = null;
    if (next) next();
    else await this.controller.refresh();
    return data;
  }

  /** Take what was pressed while a command is in progress, if it was meant for the stop after that command. */
  whenDone(action: () => void): void {
    const { stop } = this.controller.inspection;
    if (this.busy && stop && stop.stop_number !== this.busySinceStop) this.next = action;
  }

  async runToolAndRefresh(tool: string, args: Record<string, unknown>): Promise<void> {
    await this.runTool(tool, args);
    await this.controller.refresh();
  }

  private async runTool(tool: string, args: Record<string, unknown>): Promise<Record<string, unknown> | null> {
    const { sessions, inspection, follow } = this.controller;
    follow.personActs(sessions.selected);
    this.error = null;
    this.notice = "";
    try {
      const { data, text, is_error } = await sessions.call(tool, args);
      if (is_error) [this.error, this.refusedCall] = [toolErrorNotice(data, text), { tool, args }];
      else sessions.selectStarted(tool, String(data["session_id"] ?? ""));
      await inspection.setStop(data["stop_event_data"] as Stop | undefined);
      return is_error ? null : data;
    } catch (error) {
      this.error = errorNotice(error);
      return null;
    }
  }
}
