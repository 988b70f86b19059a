/** The person's own debug sessions, of any debugger, lent to agents: once the person allowed it for this workspace. */
import * as vscode from "vscode";

import type { Bridge } from "../bridge/bridge";
import { Refusal, type Json } from "../bridge/link";
import { folderPaths } from "../manage/program";
import { offerWorkspaceTrust } from "../manage/trusting";
import { TYPE } from "../together/debugging";
import { MIRRORED } from "../together/leftovers";
import { chosen } from "./choosing";
import { Marks } from "./marks";
import { titleOf } from "./names";
import { Own } from "./own";
import { passedOn } from "./passing";
import { Paths } from "./paths";
import { Starting, stopped, type Run } from "./starting";
import { Tracked, type DapMessage } from "./tracked";
import type { Done } from "./wanting";

const t = vscode.l10n.t;
const KIND = "sessions";
/** Not at each line that it prints: an offer that was refused, or let go of, waits for the next stop. */
const OFFERED_AT = new Set(["stopped", "thread"]);

export interface Shared {
  session: vscode.DebugSession;
  tracked: Tracked;
  paths: Paths;
  own: Own;
  /** Asked for, and allowed or not. */
  allowed?: Promise<boolean>;
  isLent: boolean;
  /** Where an agent had it started. */
  run?: Run;
}

export class Sharing implements vscode.Disposable {
  private readonly sessions = new Map<string, Shared>();
  private readonly marks: Marks;
  private readonly starting: Starting;
  private readonly subscriptions: vscode.Disposable[];
  /** What agents were told that they could ask for. */
  private toldNotLent = "";

  constructor(
    private readonly bridge: Bridge,
    private readonly memory: vscode.Memento,
  ) {
    this.marks = new Marks(memory, (done) => this.tellOf(done));
    bridge.serves["debug.request"] = (params) => this.passOn(params);
    bridge.serves["debug.released"] = async ({ session }) => this.released(String(session));
    bridge.serves["debug.breakpoints"] = async (params) => ({ body: await this.marks.set(this.lent(params).session, params.arguments as Json) });
    bridge.serves["debug.start"] = (params, signal) => this.start(params, signal);
    bridge.serves["debug.stop"] = (params) => this.stop(params);
    this.starting = new Starting(bridge.consent);
    bridge.consent.whenForgotten = () => this.forgotten();
    this.subscriptions = [
      this.marks,
      this.starting,
      vscode.debug.registerDebugAdapterTrackerFactory("*", { createDebugAdapterTracker: (session) => this.follow(session) }),
      vscode.debug.onDidTerminateDebugSession((session) => this.ended(session)),
      vscode.debug.onDidChangeBreakpoints(() => this.tellOwn()),
      vscode.commands.registerCommand("dragoman.lendSession", (row?: { sessionId?: string }) => this.lendByHand(row?.sessionId)),
      bridge.onDidConnect(() => this.offerAll()),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private follow(session: vscode.DebugSession): vscode.DebugAdapterTracker | undefined {
    if (session.type === TYPE) return undefined;
    const tracked = new Tracked(
      (event, body) => this.happened(session.id, event, body),
      (count) => t("[{0} characters are not shown here]", count),
    );
    const own = new Own(session, folderOf(session) ?? "", (mark) => this.isTheirs(mark), (params) => this.bridge.ask("debug.own", params));
    const shared: Shared = { session, tracked, own, paths: new Paths(), isLent: false };
    this.sessions.set(session.id, shared);
    this.belongs(shared, this.starting.runOf(session));
    return {
      onWillReceiveMessage: (message: DapMessage) => tracked.sent(message),
      onDidSendMessage: (message: DapMessage) => tracked.received(message),
    };
  }

  /** Allowed with the start that it belongs to. */
  private belongs(shared: Shared, run: Run | undefined): void {
    if (!run) return;
    shared.run = run;
    shared.allowed = Promise.resolve(true);
    run.joined(shared);
  }

  /** An agent has a program started; the session comes back to the daemon as one that is lent. */
  private async start(params: Json, signal: AbortSignal): Promise<void> {
    const id = `start ${String(params.start)}`;
    let session: vscode.DebugSession | undefined;
    try {
      const { run, shared } = await this.starting.start(params, signal, () => this.marks.prepare(id, params.breakpoints as Json[]));
      session = shared.session;
      await this.lendStarted(run, shared);
    } finally {
      this.marks.started(id, session);
      if (session && !this.sessions.has(session.id)) this.marks.ended(session);
    }
  }

  /** What it printed before comes right after the offer; a session that could not be lent is not left behind. */
  private async lendStarted(run: Run, shared: Shared): Promise<void> {
    const { session } = shared;
    const offered = this.bridge.ask("debug.offered", { ...this.described(shared), start: run.id });
    shared.isLent = true;
    run.isPending = false;
    for (const { event, body } of run.heldOf(shared)) this.bridge.tell("debug.event", { session: session.id, event, body });
    if (!this.sessions.has(session.id)) this.bridge.tell("debug.ended", { session: session.id });
    if ((await offered.catch(() => undefined)) === undefined) {
      shared.isLent = false;
      void vscode.debug.stopDebugging(run.root);
      throw new Refusal("withdrawn", "nobody waits for it any more");
    }
    if (this.sessions.has(session.id)) this.lentNow(shared);
    for (const other of run.others(shared)) if (other.tracked.isLive) void this.offer(other);
  }

  private async stop(params: Json): Promise<void> {
    const { run } = this.lent(params);
    if (!run?.root) throw new Refusal("not_allowed", "the person started it");
    await stopped(run.root);
  }

  private happened(id: string, event: string, body: Json): void {
    const shared = this.sessions.get(id);
    if (!shared) return;
    if (shared.run?.isPending) return shared.run.heard(shared, event, body);
    if (shared.isLent) this.bridge.tell("debug.event", { session: id, event, body });
    else if (shared.tracked.isLive && OFFERED_AT.has(event)) void this.offer(shared);
    if (shared.isLent && event === "breakpoint") void shared.own.changed();
  }

  /** The daemon is there, perhaps another one than before: what the last one wanted, nobody may want any more. */
  private offerAll(): void {
    this.toldNotLent = "";
    for (const shared of this.sessions.values()) {
      this.letGo(shared);
      if (shared.tracked.isLive) void this.offer(shared);
    }
  }

  private async offer(shared: Shared): Promise<void> {
    const { session, tracked } = shared;
    const folder = folderOf(session);
    if (!this.bridge.isOpen || !folder || shared.run?.isPending) return;
    this.tellNotLent();
    shared.allowed ??= this.isAllowed(session);
    if (!(await shared.allowed)) return this.tellNotLent(); // a "never" is no news for agents
    if (shared.isLent || tracked.isEnded) return;
    shared.isLent = true;
    shared.isLent = (await this.bridge.ask("debug.offered", this.described(shared)).catch(() => undefined)) !== undefined;
    if (shared.isLent) this.lentNow(shared);
  }

  private described({ session, tracked: { capabilities, stops } }: Shared): Json {
    return { session: session.id, name: titleOf(session), type: session.type, folder: folderOf(session), capabilities, stops };
  }

  private lentNow(shared: Shared): void {
    void shared.own.changed();
    void this.marks.tellAgain();
    this.tellNotLent();
  }

  /** What the person did to an agent's breakpoint; whether the daemon knows of it now. */
  private async tellOf(done: Done): Promise<boolean> {
    return (await this.bridge.ask("debug.breakpoint", { ...done }).catch(() => undefined)) !== undefined;
  }

  private tellOwn(): void {
    for (const shared of this.sessions.values()) if (shared.isLent) void shared.own.changed();
  }

  /** Neither an agent's in a session of the person's, nor another's in one that the person joined. */
  private isTheirs(mark: vscode.SourceBreakpoint): boolean {
    return !this.marks.has(mark) && !this.memory.get<string[]>(MIRRORED, []).includes(mark.id);
  }

  /** So that agents can ask for them; one that the person will never lend is not spoken of. */
  private tellNotLent(): void {
    const all = this.bridge.consent.isNever(KIND) ? [] : [...this.sessions.values()].filter(({ isLent, tracked }) => tracked.isLive && !isLent);
    const sessions = all.map(({ session }) => ({ name: titleOf(session), folder: folderOf(session) ?? "" }));
    const text = JSON.stringify(sessions);
    if (text !== this.toldNotLent) this.bridge.tell("debug.lendable", { sessions });
    this.toldNotLent = text;
  }

  private isAllowed(session: vscode.DebugSession): Promise<boolean> {
    const words = t(
      "Let agents look at your debug session {0}, step it, set values and run expressions in it? Always: all sessions of this workspace.",
      titleOf(session.parentSession ?? session),
    );
    return this.bridge.consent.require(KIND, words).then(() => true, () => false);
  }

  /** By command: also where the question went unanswered, or was answered with no. One that is lent is taken back. */
  private async lendByHand(id: string | undefined): Promise<void> {
    if (!vscode.workspace.isTrusted) return offerWorkspaceTrust();
    const lives = [...this.sessions.values()].filter(({ tracked }) => tracked.isLive);
    const shared = await chosen(lives, id, this.bridge.isOpen);
    if (shared?.isLent) return this.takeBack(shared);
    if (!shared) return;
    shared.allowed = Promise.resolve(true);
    await this.offer(shared);
    if (!shared.isLent) void vscode.window.showWarningMessage(t("The server did not take the session. It is offered again at its next stop."));
  }

  private takeBack(shared: Shared): void {
    this.bridge.tell("debug.ended", { session: shared.session.id, why: "taken_back" });
    shared.allowed = Promise.resolve(false);
    this.letGo(shared);
    this.tellNotLent();
  }

  /** What was allowed is not any more: what is lent goes back, and the next stop asks anew. */
  private forgotten(): void {
    for (const shared of this.sessions.values()) {
      if (shared.isLent) this.takeBack(shared);
      delete shared.allowed;
    }
  }

  /** Agents let go of it: it is offered again at its next stop, or by hand. */
  private released(id: string): void {
    const shared = this.sessions.get(id);
    if (shared) this.letGo(shared);
    this.tellNotLent();
  }

  private letGo(shared: Shared): void {
    shared.isLent = false;
    this.marks.released(shared.session);
  }

  private ended(session: vscode.DebugSession): void {
    const shared = this.sessions.get(session.id);
    this.sessions.delete(session.id);
    this.marks.ended(session);
    if (shared?.run?.isPending) shared.run.ended(shared);
    if (shared?.isLent) this.bridge.tell("debug.ended", { session: session.id });
    if (shared) this.tellNotLent();
  }

  private lent({ session }: Json): Shared {
    const shared = this.sessions.get(String(session));
    if (!shared?.isLent) throw new Refusal("gone", "the session has ended");
    return shared;
  }

  private async passOn(params: Json): Promise<Json> {
    return passedOn(this.lent(params), String(params.command), params.arguments as Json);
  }
}

function folderOf({ workspaceFolder, parentSession }: vscode.DebugSession): string | undefined {
  return workspaceFolder?.uri.fsPath ?? parentSession?.workspaceFolder?.uri.fsPath ?? folderPaths()[0];
}
