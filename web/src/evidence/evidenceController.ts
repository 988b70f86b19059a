/** The runs that were asked for in this browser session, and what agents traced meanwhile. */
import type { ReactiveController, ReactiveControllerHost } from "lit";
import { router } from "../app/router";
import { LaunchConfigurations } from "../debugger/launchConfigurations";
import { callToolIn, errorNotice, folders, toolErrorNotice } from "../debugger/tools";
import type { ErrorNotice } from "../debugger/toolResults";
import { feed, ignoreUnreachable, post, request, t, type FeedRow, type ToolResult } from "../link";
import { fetchEvents } from "../link/feed";
import { actorName } from "../parts/actors";
import { VIEW, proposalOf, type Proposal } from "./address";
import {
  QUESTIONS,
  emptyForm,
  questionOf,
  rememberForm,
  rememberedForm,
  toolCall,
  type EvidenceForm,
  type TargetKind,
} from "./questions";
import type { ExplainedFailure } from "./results/toolResults";

export interface EvidenceRun {
  id: string;
  form: EvidenceForm;
  workspace: string;
  startedAt: number;
  /** How long it took. */
  seconds: number;
  state: "running" | "done" | "failed" | "cancelled";
  /** What an agent would read. */
  text: string;
  data: Record<string, unknown>;
  page: Record<string, unknown>;
  error: ErrorNotice | null;
}

/** A trace in the journal that somebody else made. */
export interface RecordedTrace {
  id: string;
  at: number;
  actor: string;
  place: string;
  table: string;
}

export interface LastFailure {
  command: string;
  cwd: string;
  exitCode: number | null;
  at: string;
}

interface Answer extends ToolResult {
  page_data?: Record<string, unknown>;
}

const TRACED = "debug.traced";
const FAILED = "terminal.command_failed";
const KEPT_AS = "evidence-runs";
const KEPT = 30;
const SEARCHED = 20_000;

export class EvidenceController implements ReactiveController {
  runs: EvidenceRun[] = [];
  traces: RecordedTrace[] = [];
  form = emptyForm();
  /** The run or trace that is shown; empty: the form. */
  selected = "";
  folders: string[] = [];
  workspace = "";
  lastFailure: LastFailure | null = null;
  notice = "";
  readonly configurations = new LaunchConfigurations(() => this.host.requestUpdate());
  private readonly open = new Map<string, AbortController>();
  private unsubscribers: (() => void)[] = [];

  constructor(private readonly host: ReactiveControllerHost & HTMLElement) {
    host.addController(this);
    this.runs = keptRuns();
  }

  hostConnected(): void {
    router.addEventListener("navigated", this.routeChanged);
    this.unsubscribers = [
      feed.subscribe(TRACED, {
        events: (rows) => this.addTraces(rows),
        reset: ({ sequence }) => void this.read(sequence).catch(ignoreUnreachable),
        erased: () => ((this.traces = []), this.host.requestUpdate()),
      }),
      feed.subscribe(FAILED, { events: () => void this.readLastFailure().catch(ignoreUnreachable) }),
    ];
  }

  hostDisconnected(): void {
    router.removeEventListener("navigated", this.routeChanged);
    for (const unsubscribe of this.unsubscribers) unsubscribe();
  }

  private readonly routeChanged = (): void => {
    if (router.view === VIEW) this.followRoute();
    this.host.requestUpdate();
  };

  /** Not before the folder is known: its last form would replace what the address proposes. */
  private followRoute(): void {
    if (!this.workspace) return;
    const parts = router.parts(VIEW);
    const proposal = proposalOf(parts);
    if (proposal) this.take(proposal);
    else this.selected = this.isKnown(parts[0] ?? "") ? parts[0]! : "";
  }

  /** The address is used once: what is typed after that is not in it. */
  private take({ question, kind, subject, cwd }: Proposal): void {
    const known = QUESTIONS.find(({ id }) => id === question);
    if (!known?.kinds.includes(kind)) return;
    this.form = { ...this.form, question, kind, subject, cwd: cwd === this.workspace ? "" : cwd };
    this.selected = "";
    router.replace(VIEW);
  }

  private isKnown(id: string): boolean {
    return [...this.runs, ...this.traces].some((it) => it.id === id);
  }

  private async read(sequence: number): Promise<void> {
    const { own, all } = await folders();
    this.folders = [own, ...all.filter((it) => it !== own)];
    if (this.workspace) void this.readLastFailure().catch(ignoreUnreachable);
    else this.moveTo(own);
    this.addTraces(await fetchEvents(Math.max(0, sequence - SEARCHED), sequence, [TRACED]));
    this.followRoute();
    this.host.requestUpdate();
  }

  moveTo(workspace: string): void {
    this.workspace = workspace;
    this.form = rememberedForm(workspace);
    const reads = Promise.all([this.configurations.read(workspace), this.readLastFailure()]);
    void reads.catch(ignoreUnreachable);
    this.host.requestUpdate();
  }

  async readLastFailure(): Promise<void> {
    const { data, is_error } = await callToolIn(this.workspace, "search_commands", { failed: true, limit: 1 });
    const [found] = is_error ? [] : (data["commands"] as Record<string, unknown>[]);
    this.lastFailure = found
      ? {
          command: String(found["command"]),
          cwd: String(found["cwd"]),
          exitCode: found["exit_code"] as number | null,
          at: String(found["started_at"]),
        }
      : null;
    this.host.requestUpdate();
  }

  private addTraces(rows: readonly FeedRow[]): void {
    const known = new Set(this.traces.map(({ id }) => id));
    const others = rows.filter(({ event, sequence }) => event.body?.["by"] !== "page" && !known.has(`t${sequence}`));
    const traces = others.map(({ sequence, at_ns, event }) => ({
      id: `t${sequence}`,
      at: at_ns / 1e6,
      actor: actorName(event.body?.["by"]),
      place: String(event.body?.["place"] ?? ""),
      table: String(event.body?.["table"] ?? ""),
    }));
    this.traces = [...this.traces, ...traces].slice(-KEPT);
    this.host.requestUpdate();
  }

  get run(): EvidenceRun | undefined {
    return this.runs.find(({ id }) => id === this.selected);
  }

  get trace(): RecordedTrace | undefined {
    return this.traces.find(({ id }) => id === this.selected);
  }

  change(form: EvidenceForm): void {
    this.form = form;
    this.host.requestUpdate();
  }

  select(id: string): void {
    this.selected = id;
    this.notice = "";
    router.push(VIEW, id);
    this.host.requestUpdate();
  }

  /** The form again, with what a run was asked. */
  edit(run: EvidenceRun): void {
    this.form = structuredClone(run.form);
    this.select("");
  }

  async ask(form: EvidenceForm): Promise<void> {
    rememberForm(this.workspace, form);
    const subject = form.kind === "last" ? (this.lastFailure?.command ?? "") : form.subject;
    const run: EvidenceRun = {
      id: `r${Date.now().toString(36)}`,
      form: { ...structuredClone(form), subject },
      workspace: this.workspace,
      startedAt: Date.now(),
      seconds: 0,
      state: "running",
      text: "",
      data: {},
      page: {},
      error: null,
    };
    this.runs = [...this.runs, run];
    this.select(run.id);
    await this.perform(run);
  }

  private async perform(run: EvidenceRun): Promise<void> {
    const abort = new AbortController();
    this.open.set(run.id, abort);
    Object.assign(run, { state: "running", startedAt: Date.now(), error: null });
    try {
      const { tool, args } = toolCall(run.form);
      const body = { tool, arguments: args, workspace: run.workspace };
      const answer = await request<Answer>("/api/call", { method: "POST", body, signal: abort.signal });
      const error = answer.is_error ? toolErrorNotice(answer.data, answer.text) : null;
      const state = error ? "failed" : "done";
      Object.assign(run, { state, error, text: answer.text, data: answer.data, page: answer.page_data ?? {} });
    } catch (error) {
      const isCancelled = abort.signal.aborted;
      Object.assign(run, {
        state: isCancelled ? "cancelled" : "failed",
        error: isCancelled ? null : errorNotice(error),
      });
    }
    run.seconds = (Date.now() - run.startedAt) / 1000;
    this.open.delete(run.id);
    this.keep();
    this.host.requestUpdate();
  }

  cancel(run: EvidenceRun): void {
    this.open.get(run.id)?.abort(new Error(t("Cancelled.")));
  }

  again(run: EvidenceRun, changes: Partial<EvidenceForm> = {}): Promise<void> {
    return this.ask({ ...run.form, ...changes });
  }

  /** The person has seen what would run. */
  async trust(run: EvidenceRun, folder: string): Promise<void> {
    try {
      await post("/api/trust", { folder });
      await this.perform(run);
    } catch (error) {
      run.error = errorNotice(error);
      this.host.requestUpdate();
    }
  }

  forget(run: EvidenceRun): void {
    this.cancel(run);
    this.runs = this.runs.filter((it) => it !== run);
    this.keep();
    this.select("");
  }

  /** For a person who reloads the page. */
  private keep(): void {
    this.runs = this.runs.slice(-KEPT);
    const ended = this.runs.filter(({ state }) => state !== "running");
    for (let from = 0; from <= ended.length; from++)
      try {
        sessionStorage.setItem(KEPT_AS, JSON.stringify(ended.slice(from)));
        return;
      } catch {
        // Too much for the browser: the oldest goes first.
      }
  }

  /** What was asked about before, and tests that failed: to complete what is typed. */
  known(field: "subject" | "function"): string[] {
    const asked = this.runs.map(({ form }) => form[field]);
    const failed = this.runs.flatMap(({ data }) => (data as unknown as Partial<ExplainedFailure>).test?.failed ?? []);
    return [...new Set([...asked, ...(field === "subject" ? failed : [])])].filter(Boolean);
  }

  kindsOf(form: EvidenceForm): readonly TargetKind[] {
    const hasConfigurations = Boolean(this.configurations.all?.length);
    return questionOf(form.question).kinds.filter(
      (it) => (it !== "configuration_name" || hasConfigurations) && (it !== "last" || this.lastFailure),
    );
  }
}

function keptRuns(): EvidenceRun[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT_AS) ?? "[]") as EvidenceRun[];
  } catch {
    return [];
  }
}
