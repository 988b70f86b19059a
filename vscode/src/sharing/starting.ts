/** Sessions that agents start with the debuggers of this editor: after the person has seen and allowed all of it. */
import * as vscode from "vscode";

import type { Consent } from "../bridge/consent";
import { Refusal, type Json } from "../bridge/link";
import { plain, SHOWN_WHOLE } from "../bridge/plain";
import { TYPE } from "../together/debugging";
import { digest, question, shorter, shownWhole, textsOf, type Asked } from "./question";
import type { Shared } from "./sharing";

const t = vscode.l10n.t;
const KIND = "start";
/** In the configuration, as the editor's own keys are (`__sessionId`): by this a session is known to be ours. */
const MARK = "__dragoman";
const SCHEME = "dragoman-configuration";
/** For a program that neither stops nor tells of threads: then it is the session itself that is lent. */
const SETTLES_MS = 2000;
/** A program that does not end when it is asked to is ended the second time, as with the button in the editor. */
const ASKED_AGAIN_MS = 3000;
const HELD_EVENTS = 300;
const HELD = new Set(["output", "exited"]);

/** What extensions bring debuggers for. Ours is not one: its sessions are the server's own. */
export function debugTypes(): string[] {
  const declared = vscode.extensions.all.flatMap(({ packageJSON }) => (packageJSON as { contributes?: { debuggers?: { type?: unknown }[] } }).contributes?.debuggers ?? []);
  const types = declared.map(({ type }) => type).filter((type): type is string => typeof type === "string" && type !== TYPE);
  return [...new Set(types)].slice(0, 300);
}

/** One start that an agent asked for: its session, those which that begins in turn, and which of them is lent for it. */
export class Run {
  root: vscode.DebugSession | undefined;
  /** Nothing of it is lent yet. */
  isPending = true;
  private readonly members: Shared[] = [];
  private readonly held: { shared: Shared; event: string; body: Json }[] = [];
  private settle!: (shared: Shared) => void;
  /** The first that has a program, or has ended. */
  readonly settled = new Promise<Shared>((settle) => (this.settle = settle));

  constructor(
    readonly id: string,
    readonly name: string,
    private readonly signal: AbortSignal,
  ) {}

  has({ id, parentSession, configuration }: vscode.DebugSession): boolean {
    if (this.root) return id === this.root.id || (parentSession !== undefined && this.has(parentSession));
    return configuration[MARK] === this.id || (!parentSession && configuration.name === this.name); // some rewrite the configuration
  }

  joined(shared: Shared): void {
    this.root ??= shared.session;
    this.members.push(shared);
    if (this.signal.aborted) void vscode.debug.stopDebugging(this.root);
  }

  heard(shared: Shared, event: string, body: Json): void {
    if (HELD.has(event)) this.held.push({ shared, event, body });
    if (this.held.length > HELD_EVENTS) this.held.shift();
    if (shared.tracked.isLive) this.settle(shared);
  }

  ended({ session }: Shared): void {
    const first = this.members.find((it) => it.session.id === session.id);
    if (first && session.id === this.root?.id) this.settle(first);
  }

  /** What is lent where no program was seen. */
  settleForRoot(): void {
    const root = this.members.find(({ session }) => session.id === this.root?.id);
    if (root) this.settle(root);
  }

  /** What it printed before it was lent. */
  heldOf(shared: Shared): { event: string; body: Json }[] {
    return this.held.filter((it) => it.shared === shared);
  }

  others(shared: Shared): Shared[] {
    return this.members.filter((it) => it !== shared);
  }
}

export class Starting implements vscode.Disposable {
  private readonly runs = new Set<Run>();
  private readonly shown = new Map<string, string>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly consent: Consent) {
    this.subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, { provideTextDocumentContent: ({ path }) => this.shown.get(path) ?? "" }),
      vscode.debug.onDidTerminateDebugSession(({ id }) => {
        for (const run of this.runs) if (run.root?.id === id) this.runs.delete(run);
      }),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  runOf(session: vscode.DebugSession): Run | undefined {
    return [...this.runs].find((run) => run.has(session));
  }

  /** Resolves with what is to be lent, once the person allowed it and the editor has started it. `ready`: before that. */
  async start({ start, configuration, folder, noDebug, by, breakpoints }: Json, signal: AbortSignal, ready: () => void): Promise<{ run: Run; shared: Shared }> {
    const wanted = configuration as vscode.DebugConfiguration;
    const texts = textsOf(breakpoints as Json[]);
    await this.ask({ wanted, folder: String(folder), by: String(by || "") || t("An agent"), isRun: noDebug === true, texts }, signal);
    const run = new Run(String(start), wanted.name, signal);
    signal.addEventListener("abort", () => run.root && run.isPending && void vscode.debug.stopDebugging(run.root));
    this.runs.add(run);
    try {
      ready();
      const at = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(String(folder))) ?? vscode.workspace.workspaceFolders?.[0];
      const began = Promise.resolve(vscode.debug.startDebugging(at, { ...wanted, [MARK]: run.id }, { noDebug: noDebug === true }));
      const shared = await Promise.race([run.settled, began.then((isBegun) => begunOrNot(run, isBegun))]);
      if (signal.aborted) throw new Refusal("withdrawn", "nobody waits for it any more");
      return { run, shared };
    } catch (error) {
      this.runs.delete(run);
      if (run.root) void vscode.debug.stopDebugging(run.root);
      throw error;
    }
  }

  private async ask(asked: Asked, signal: AbortSignal): Promise<void> {
    const words = question(asked);
    const isLong = plain(words).length > SHOWN_WHOLE;
    if (isLong && !this.consent.isAlways(KIND, digest(asked))) await this.show(asked);
    await this.consent.require(KIND, isLong ? shorter(asked) : words, signal, digest(asked));
  }

  /** What a notification would cut off is read in a document. */
  private async show(asked: Asked): Promise<void> {
    this.consent.requireTrust();
    const path = `/${digest(asked).slice(0, 12)}/launch.json`;
    this.shown.clear();
    this.shown.set(path, shownWhole(asked));
    const document = await vscode.workspace.openTextDocument(vscode.Uri.from({ scheme: SCHEME, path }));
    await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true });
  }
}

async function begunOrNot(run: Run, isBegun: boolean): Promise<Shared> {
  if (!isBegun) throw new Refusal("not_started", "it could not be started there; the editor says why to the person");
  setTimeout(() => run.settleForRoot(), SETTLES_MS);
  if (!run.root) throw new Refusal("not_started", "its debugger began no session that could be followed");
  return run.settled;
}

export async function stopped(session: vscode.DebugSession): Promise<void> {
  const over = new Promise<void>((settle) => {
    const heard = vscode.debug.onDidTerminateDebugSession(({ id }) => id === session.id && (heard.dispose(), settle()));
    setTimeout(() => (heard.dispose(), settle()), 2 * ASKED_AGAIN_MS);
  });
  const again = setTimeout(() => void vscode.debug.stopDebugging(session), ASKED_AGAIN_MS);
  await vscode.debug.stopDebugging(session);
  await over;
  clearTimeout(again);
}
