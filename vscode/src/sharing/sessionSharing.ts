/** The person's own debug sessions, of any debugger, lent to agents: once the person allowed it for this workspace. */
import * as vscode from "vscode";

import type { Bridge } from "../bridge/bridge";
import { RpcError, type Json } from "../bridge/rpcConnection";
import { folderPaths } from "../server/programFinder";
import { offerWorkspaceTrust } from "../server/folderTrust";
import { TYPE } from "../debug/debugType";
import { MIRRORED } from "../debug/staleBreakpoints";
import { pickSession } from "./sessionPicker";
import { AgentBreakpoints } from "./agentBreakpoints";
import { sessionTitle } from "./sessionTitle";
import { PersonBreakpoints } from "./personBreakpoints";
import { forwardRequest } from "./requestForwarder";
import { RemotePaths } from "./remotePaths";
import { AgentLaunches, stopSession, type AgentLaunch } from "./agentLaunches";
import { SessionTracker, type DapMessage } from "./sessionTracker";
import type { PersonEdit } from "./requestedBreakpoints";

const t = vscode.l10n.t;
const KIND = "sessions";
/** A session that was refused or returned is offered again at its next stop, not at each output. */
const OFFERED_AT = new Set(["stopped", "thread"]);

export interface SharedSession {
  session: vscode.DebugSession;
  tracked: SessionTracker;
  paths: RemotePaths;
  own: PersonBreakpoints;
  /** Asked for, and allowed or not. */
  allowed?: Promise<boolean>;
  isLent: boolean;
  /** The agent that requested the start, if one did. */
  run?: AgentLaunch;
}

export class SessionSharing implements vscode.Disposable {
  private readonly sessions = new Map<string, SharedSession>();
  private readonly agentBreakpoints: AgentBreakpoints;
  private readonly launches: AgentLaunches;
  private readonly subscriptions: vscode.Disposable[];
  /** The capabilities that were announced to agents. */
  private reportedNotLent = "";

  constructor(
    private readonly bridge: Bridge,
    private readonly memory: vscode.Memento,
  ) {
    this.agentBreakpoints = new AgentBreakpoints(memory, (done) => this.reportSession(done));
    bridge.handlers["debug.request"] = (params) => this.forward(params);
    bridge.handlers["debug.released"] = async ({ session }) => this.released(String(session));
    bridge.handlers["debug.breakpoints"] = async (params) => ({
      body: await this.agentBreakpoints.set(this.lent(params).session, params.arguments as Json),
    });
    bridge.handlers["debug.start"] = (params, signal) => this.start(params, signal);
    bridge.handlers["debug.stop"] = (params) => this.stop(params);
    this.launches = new AgentLaunches(bridge.consent);
    bridge.consent.whenForgotten = () => this.forgotten();
    this.subscriptions = [
      this.agentBreakpoints,
      this.launches,
      vscode.debug.registerDebugAdapterTrackerFactory("*", {
        createDebugAdapterTracker: (session) => this.follow(session),
      }),
      vscode.debug.onDidTerminateDebugSession((session) => this.ended(session)),
      vscode.debug.onDidChangeBreakpoints(() => this.reportBreakpoints()),
      vscode.commands.registerCommand("dragoman.lendSession", (row?: { sessionId?: string }) =>
        this.lendByHand(row?.sessionId),
      ),
      bridge.onDidConnect(() => this.offerAll()),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private follow(session: vscode.DebugSession): vscode.DebugAdapterTracker | undefined {
    if (session.type === TYPE) return undefined;
    const tracked = new SessionTracker(
      (event, body) => this.handleEvent(session.id, event, body),
      (count) => t("[{0} characters are not shown here]", count),
    );
    const own = new PersonBreakpoints(
      session,
      folderOf(session) ?? "",
      (mark) => this.isPersons(mark),
      (params) => this.bridge.request("debug.own", params),
    );
    const shared: SharedSession = { session, tracked, own, paths: new RemotePaths(), isLent: false };
    this.sessions.set(session.id, shared);
    this.belongs(shared, this.launches.launchOf(session));
    return {
      onWillReceiveMessage: (message: DapMessage) => tracked.sent(message),
      onDidSendMessage: (message: DapMessage) => tracked.received(message),
    };
  }

  /** Allowed with the start that it belongs to. */
  private belongs(shared: SharedSession, run: AgentLaunch | undefined): void {
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
      const { run, shared } = await this.launches.start(params, signal, () =>
        this.agentBreakpoints.prepare(id, params.breakpoints as Json[]),
      );
      session = shared.session;
      await this.lendStarted(run, shared);
    } finally {
      this.agentBreakpoints.started(id, session);
      if (session && !this.sessions.has(session.id)) this.agentBreakpoints.ended(session);
    }
  }

  /** Earlier output follows right after the offer. A session that could not be lent is not left behind. */
  private async lendStarted(run: AgentLaunch, shared: SharedSession): Promise<void> {
    const { session } = shared;
    const offered = this.bridge.request("debug.offered", { ...this.described(shared), start: run.id });
    shared.isLent = true;
    run.isPending = false;
    for (const { event, body } of run.heldEventsOf(shared))
      this.bridge.notify("debug.event", { session: session.id, event, body });
    if (!this.sessions.has(session.id)) this.bridge.notify("debug.ended", { session: session.id });
    if ((await offered.catch(() => undefined)) === undefined) {
      shared.isLent = false;
      void vscode.debug.stopDebugging(run.root);
      throw new RpcError("withdrawn", "nobody waits for it any more");
    }
    if (this.sessions.has(session.id)) this.markLent(shared);
    for (const other of run.others(shared)) if (other.tracked.isLive) void this.offer(other);
  }

  private async stop(params: Json): Promise<void> {
    const { run } = this.lent(params);
    if (!run?.root) throw new RpcError("not_allowed", "the person started it");
    await stopSession(run.root);
  }

  private handleEvent(id: string, event: string, body: Json): void {
    const shared = this.sessions.get(id);
    if (!shared) return;
    if (shared.run?.isPending) return shared.run.handleEvent(shared, event, body);
    if (shared.isLent) this.bridge.notify("debug.event", { session: id, event, body });
    else if (shared.tracked.isLive && OFFERED_AT.has(event)) void this.offer(shared);
    if (shared.isLent && event === "breakpoint") void shared.own.changed();
  }

  /** The daemon is reachable again, perhaps a new one: requests of the last one may no longer matter. */
  private offerAll(): void {
    this.reportedNotLent = "";
    for (const shared of this.sessions.values()) {
      this.releaseSession(shared);
      if (shared.tracked.isLive) void this.offer(shared);
    }
  }

  private async offer(shared: SharedSession): Promise<void> {
    const { session, tracked } = shared;
    const folder = folderOf(session);
    if (!this.bridge.isOpen || !folder || shared.run?.isPending) return;
    this.reportNotLent();
    shared.allowed ??= this.isAllowed(session);
    if (!(await shared.allowed)) return this.reportNotLent(); // agents need not learn that the person refused for good
    if (shared.isLent || tracked.isEnded) return;
    shared.isLent = true;
    shared.isLent =
      (await this.bridge.request("debug.offered", this.described(shared)).catch(() => undefined)) !== undefined;
    if (shared.isLent) this.markLent(shared);
  }

  private described({ session, tracked: { capabilities, stops } }: SharedSession): Json {
    return {
      session: session.id,
      name: sessionTitle(session),
      type: session.type,
      folder: folderOf(session),
      capabilities,
      stops,
    };
  }

  private markLent(shared: SharedSession): void {
    void shared.own.changed();
    void this.agentBreakpoints.reportAgain();
    this.reportNotLent();
  }

  /** The person's change of an agent's breakpoint; returns whether the daemon has it now. */
  private async reportSession(done: PersonEdit): Promise<boolean> {
    return (await this.bridge.request("debug.breakpoint", { ...done }).catch(() => undefined)) !== undefined;
  }

  private reportBreakpoints(): void {
    for (const shared of this.sessions.values()) if (shared.isLent) void shared.own.changed();
  }

  /** Neither an agent's in a session of the person's, nor another's in one that the person joined. */
  private isPersons(mark: vscode.SourceBreakpoint): boolean {
    return !this.agentBreakpoints.has(mark) && !this.memory.get<string[]>(MIRRORED, []).includes(mark.id);
  }

  /** So that agents can ask for them; one that the person will never lend is not spoken of. */
  private reportNotLent(): void {
    const all = this.bridge.consent.isNever(KIND)
      ? []
      : [...this.sessions.values()].filter(({ isLent, tracked }) => tracked.isLive && !isLent);
    const sessions = all.map(({ session }) => ({ name: sessionTitle(session), folder: folderOf(session) ?? "" }));
    const text = JSON.stringify(sessions);
    if (text !== this.reportedNotLent) this.bridge.notify("debug.lendable", { sessions });
    this.reportedNotLent = text;
  }

  private isAllowed(session: vscode.DebugSession): Promise<boolean> {
    const words = t(
      "Let agents look at your debug session {0}, step it, set values and run expressions in it? Always: all sessions of this workspace.",
      sessionTitle(session.parentSession ?? session),
    );
    return this.bridge.consent.require(KIND, words).then(
      () => true,
      () => false,
    );
  }

  /** By command: also after the question was not answered, or was answered with no. A lent session is taken back. */
  private async lendByHand(id: string | undefined): Promise<void> {
    if (!vscode.workspace.isTrusted) return offerWorkspaceTrust();
    const live = [...this.sessions.values()].filter(({ tracked }) => tracked.isLive);
    const shared = await pickSession(live, id, this.bridge.isOpen);
    if (shared?.isLent) return this.takeBack(shared);
    if (!shared) return;
    shared.allowed = Promise.resolve(true);
    await this.offer(shared);
    if (!shared.isLent)
      void vscode.window.showWarningMessage(
        t("The server did not accept the session. It is offered again at its next stop."),
      );
  }

  private takeBack(shared: SharedSession): void {
    this.bridge.notify("debug.ended", { session: shared.session.id, why: "taken_back" });
    shared.allowed = Promise.resolve(false);
    this.releaseSession(shared);
    this.reportNotLent();
  }

  /** The permission was revoked: take lent sessions back, and ask again at the next stop. */
  private forgotten(): void {
    for (const shared of this.sessions.values()) {
      if (shared.isLent) this.takeBack(shared);
      delete shared.allowed;
    }
  }

  /** Agents returned it: it is offered again at its next stop, or by a command. */
  private released(id: string): void {
    const shared = this.sessions.get(id);
    if (shared) this.releaseSession(shared);
    this.reportNotLent();
  }

  private releaseSession(shared: SharedSession): void {
    shared.isLent = false;
    this.agentBreakpoints.released(shared.session);
  }

  private ended(session: vscode.DebugSession): void {
    const shared = this.sessions.get(session.id);
    this.sessions.delete(session.id);
    this.agentBreakpoints.ended(session);
    if (shared?.run?.isPending) shared.run.ended(shared);
    if (shared?.isLent) this.bridge.notify("debug.ended", { session: session.id });
    if (shared) this.reportNotLent();
  }

  private lent({ session }: Json): SharedSession {
    const shared = this.sessions.get(String(session));
    if (!shared?.isLent) throw new RpcError("gone", "the session has ended");
    return shared;
  }

  private async forward(params: Json): Promise<Json> {
    return forwardRequest(this.lent(params), String(params.command), params.arguments as Json);
  }
}

function folderOf({ workspaceFolder, parentSession }: vscode.DebugSession): string | undefined {
  return workspaceFolder?.uri.fsPath ?? parentSession?.workspaceFolder?.uri.fsPath ?? folderPaths()[0];
}
