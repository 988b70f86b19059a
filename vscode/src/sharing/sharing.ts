/** The person's own debug sessions, of any debugger, lent to agents: once the person allowed it for this workspace. */
import * as vscode from "vscode";

import type { Bridge } from "../bridge/bridge";
import { Refusal, type Json } from "../bridge/link";
import { folderPaths } from "../manage/program";
import { TYPE } from "../together/debugging";
import { Marks } from "./marks";
import { Tracked, type DapMessage } from "./tracked";
import type { Done } from "./wanting";

const t = vscode.l10n.t;
/** Through the editor, which then shows what happens; a request past it would leave it standing at the old line. */
const COMMANDS: Record<string, string> = {
  continue: "workbench.action.debug.continue",
  next: "workbench.action.debug.stepOver",
  stepIn: "workbench.action.debug.stepInto",
  stepOut: "workbench.action.debug.stepOut",
  pause: "workbench.action.debug.pause",
};

/** Not at each line that it prints: an offer that was refused, or let go of, waits for the next stop. */
const OFFERED_AT = new Set(["stopped", "thread"]);

interface Shared {
  session: vscode.DebugSession;
  tracked: Tracked;
  /** Asked for, and allowed or not. */
  allowed?: Promise<boolean>;
  isLent: boolean;
}

export class Sharing implements vscode.Disposable {
  private readonly sessions = new Map<string, Shared>();
  private readonly marks: Marks;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly bridge: Bridge,
    memory: vscode.Memento,
  ) {
    this.marks = new Marks(memory, (done) => this.tellOf(done));
    bridge.serves["debug.request"] = (params) => this.passOn(params);
    bridge.serves["debug.released"] = async ({ session }) => this.released(String(session));
    bridge.serves["debug.breakpoints"] = async (params) => ({ body: await this.marks.set(this.lent(params).session, params.arguments as Json) });
    this.subscriptions = [
      this.marks,
      vscode.debug.registerDebugAdapterTrackerFactory("*", { createDebugAdapterTracker: (session) => this.follow(session) }),
      vscode.debug.onDidTerminateDebugSession((session) => this.ended(session)),
      bridge.onDidConnect(() => this.offerAll()),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private follow(session: vscode.DebugSession): vscode.DebugAdapterTracker | undefined {
    if (session.type === TYPE) return undefined;
    const tracked = new Tracked((event, body) => this.happened(session.id, event, body));
    this.sessions.set(session.id, { session, tracked, isLent: false });
    return {
      onWillReceiveMessage: (message: DapMessage) => tracked.sent(message),
      onDidSendMessage: (message: DapMessage) => tracked.received(message),
    };
  }

  private happened(id: string, event: string, body: Json): void {
    const shared = this.sessions.get(id);
    if (!shared) return;
    if (shared.isLent) this.bridge.tell("debug.event", { session: id, event, body });
    else if (shared.tracked.isLive && OFFERED_AT.has(event)) void this.offer(shared);
  }

  private offerAll(): void {
    for (const shared of this.sessions.values()) {
      shared.isLent = false;
      if (shared.tracked.isLive) void this.offer(shared);
    }
  }

  private async offer(shared: Shared): Promise<void> {
    const { session, tracked } = shared;
    const folder = session.workspaceFolder?.uri.fsPath ?? session.parentSession?.workspaceFolder?.uri.fsPath ?? folderPaths()[0];
    if (!this.bridge.isOpen || !folder) return;
    shared.allowed ??= this.isAllowed(session);
    if (!(await shared.allowed) || shared.isLent || tracked.isEnded) return;
    shared.isLent = true;
    const { capabilities, stopped } = tracked;
    const offered = { session: session.id, name: session.name, type: session.type, folder, capabilities, stopped: stopped ?? null };
    await this.bridge.ask("debug.offered", offered).then(
      () => this.marks.tellAgain(),
      () => (shared.isLent = false),
    );
  }

  /** What the person did to an agent's breakpoint; whether the daemon knows of it now. */
  private async tellOf(done: Done): Promise<boolean> {
    return (await this.bridge.ask("debug.breakpoint", { ...done }).catch(() => undefined)) !== undefined;
  }

  private isAllowed({ name }: vscode.DebugSession): Promise<boolean> {
    const words = t("Let agents look at your debug session {0}, step it and run expressions in it? Always: all sessions of this workspace.", name);
    return this.bridge.consent.require("sessions", words).then(() => true, () => false);
  }

  /** Agents let go of it: their breakpoints go, and it is theirs again from the next stop on. */
  private released(id: string): void {
    const shared = this.sessions.get(id);
    if (!shared) return;
    shared.isLent = false;
    this.marks.ended(shared.session);
  }

  private ended(session: vscode.DebugSession): void {
    const shared = this.sessions.get(session.id);
    this.sessions.delete(session.id);
    this.marks.ended(session);
    if (shared?.isLent) this.bridge.tell("debug.ended", { session: session.id });
  }

  private lent({ session }: Json): Shared {
    const shared = this.sessions.get(String(session));
    if (!shared?.isLent) throw new Refusal("gone", "the session has ended");
    return shared;
  }

  private async passOn(params: Json): Promise<Json> {
    const { session, tracked } = this.lent(params);
    const [command, given] = [String(params.command), params.arguments as Json];
    try {
      if (await byEditor(session, tracked, command, given)) return { body: {} };
      return { body: ((await session.customRequest(command, given)) as Json | undefined) ?? {} };
    } catch (error) {
      return { refused: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** Whether the editor's own command sent the program on: only of the session in front, since that is what it acts on. */
async function byEditor(session: vscode.DebugSession, tracked: Tracked, command: string, { threadId }: Json): Promise<boolean> {
  const known = COMMANDS[command];
  if (!known || vscode.debug.activeDebugSession?.id !== session.id) return false;
  const before = tracked.sentSoFar(command);
  await vscode.commands.executeCommand(known, "", { sessionId: session.id, threadId: `thread:${session.id}:${String(threadId)}` });
  return tracked.sentSoFar(command) > before;
}
