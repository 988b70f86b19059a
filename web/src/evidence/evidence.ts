/** The evidence view: questions about a whole run, and their answers. */
import { LitElement, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { chatQuote } from "../app/chatQuote";
import { sharedStyles } from "../app/styles";
import { withInlineCode } from "../app/inlineCode";
import { t } from "../link";
import { timeOfDay } from "../parts/time";
import "../debugger/chinese";
import "./chinese";
import "./results/comparison";
import { EvidenceController, type EvidenceRun, type RecordedTrace } from "./evidenceController";
import { evidenceStyles } from "./evidenceStyles";
import "./results/failureCard";
import "./results/finding";
import { questionOf, subjectText, type EvidenceForm } from "./questions";
import { renderRunEnd } from "./results/runEnd";
import "./startForm";
import type { TracedCallPage, TracedCallResult } from "./results/toolResults";
import "./results/tracedCall";
import "./results/traceTableView";
import { shortVerdictOf, verdictOf } from "./verdict";

const TICK_MS = 200;
const COPIED_FOR_MS = 2000;

@customElement("dragoman-evidence")
export class DragomanEvidence extends LitElement {
  private readonly controller = new EvidenceController(this);
  @state() private isCopied = false;
  /** In a narrow window the list is opened by a button. */
  @state() private isListOpen = false;
  private timer = 0;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopClock();
  }

  /** Only a run that goes on needs a clock. */
  protected override updated(): void {
    const isRunning = this.controller.runs.some(({ state }) => state === "running");
    if (isRunning) this.timer ||= window.setInterval(() => this.requestUpdate(), TICK_MS);
    else this.stopClock();
  }

  private stopClock(): void {
    clearInterval(this.timer);
    this.timer = 0;
  }

  override render() {
    const { run, trace } = this.controller;
    return html`
      <nav class=${this.isListOpen ? "open" : ""} aria-label=${t("Results")}>${this.list()}</nav>
      <div class="main ${run?.state === "done" && run.form.question === "trace" ? "fills" : ""}" id="main">
        ${run ? this.result(run) : trace ? this.recorded(trace) : this.start()}
      </div>
    `;
  }

  private list() {
    const { controller } = this;
    const entries = [
      ...controller.runs.map((it) => ({ at: it.startedAt, id: it.id, draw: () => this.entry(it) })),
      ...controller.traces.map((it) => ({ at: it.at, id: it.id, draw: () => this.traceEntry(it) })),
    ].sort((a, b) => b.at - a.at);
    return html`<div class="top"
        ><button id="new" class=${controller.selected ? "" : "chosen"} @click=${() => this.choose("")}
          >+ ${t("New question")}</button
        >
        <button
          class="plain opener"
          aria-expanded=${this.isListOpen}
          @click=${() => (this.isListOpen = !this.isListOpen)}
          >${t("Results")} (${entries.length})</button
        ></div
      >
      ${
        entries.length
          ? html`<ul id="results"
              >${entries.map((it) => html`<li>${it.draw()}</li>`)}</ul
            >`
          : html`<p class="none">${t("Results of this browser session, and traces that agents make, appear here.")}</p>`
      }`;
  }

  private choose(id: string): void {
    this.isListOpen = false;
    this.controller.select(id);
  }

  private item(id: string, at: number, title: string, subject: string, below: unknown) {
    const isChosen = id === this.controller.selected;
    return html`<button
      class="plain item ${isChosen ? "chosen" : ""}"
      aria-pressed=${isChosen}
      title=${subject}
      @click=${() => this.choose(id)}
      ><span class="row"><b>${title}</b><time>${timeOfDay(at)}</time></span
      ><span class="subject mono">${subject}</span>${below}</button
    >`;
  }

  private entry(run: EvidenceRun) {
    const { text, tone } = verdictOf(run);
    return this.item(
      run.id,
      run.startedAt,
      t(questionOf(run.form.question).title),
      subjectText(run.form),
      html`<span class="verdict ${tone}">${run.state === "running" ? `${text} ${elapsed(run)}` : text}</span>`,
    );
  }

  private traceEntry({ id, at, actor, place }: RecordedTrace) {
    return this.item(
      id,
      at,
      t("Trace"),
      place,
      html`<span class="verdict">${t("by {who}", { who: actor || t("an agent") })}</span>`,
    );
  }

  private start() {
    const { controller } = this;
    if (!controller.workspace) return nothing; // what is typed now would be lost to what was asked last
    return html`<div class="start">
      <h2>${t("Ask about a whole run")}</h2>
      <p class="quiet lead"
        >${t("Dragoman runs a test or a program once more under the debugger and shows what happened in it. The result can be handed to an agent.")}</p
      >
      ${this.offer()}
      <dragoman-evidence-form .controller=${controller} .form=${controller.form}></dragoman-evidence-form>
    </div>`;
  }

  private offer() {
    const failed = this.controller.lastFailure;
    if (!failed) return nothing;
    return html`<section class="offer" id="offer" aria-label=${t("The last failed command")}>
      <div class="what"
        ><span class="quiet small"
          >${t("The last failed command")}${failed.exitCode === null ? "" : ` · ${t("exit code {code}", { code: failed.exitCode })}`}
          · ${timeOfDay(failed.at)}</span
        ><code>${failed.command}</code></div
      >
      <button id="explain-last" class="primary" @click=${() => this.explainLast()}>${t("Explain this failure")}</button>
    </section>`;
  }

  private explainLast(): void {
    const { form } = this.controller;
    void this.controller.ask({ ...form, question: "explain_failure", kind: "last", subject: "", cwd: "", repeat: 1 });
  }

  private result(run: EvidenceRun) {
    const { text, tone } = shortVerdictOf(run);
    return html`<header class="heading">
        <h2>${t(questionOf(run.form.question).title)}</h2>
        ${run.state === "running" ? nothing : this.actions(run)}
        <p class="mono about">${subjectText(run.form)}</p>
        ${run.state === "done" ? html`<p id="verdict" class="verdict ${tone}" role="status">${text} <span class="quiet">· ${t("{seconds} s", { seconds: run.seconds.toFixed(1) })}</span></p>` : nothing}
      </header>
      ${this.body(run)}`;
  }

  private actions(run: EvidenceRun) {
    const isDone = run.state === "done";
    return html`<div class="actions" role="group" aria-label=${t("Actions")}>
      ${
        isDone
          ? html`<button id="hand" class="primary" @click=${() => this.hand(run)}>${t("Hand to an agent")}</button>
              <button id="copy" @click=${() => this.copy(run.text)}
                >${t(this.isCopied ? "Copied" : "Copy for an agent")}</button
              >`
          : nothing
      }
      <button id="again" @click=${() => this.controller.again(run)}>${t("Run again")}</button>
      <button id="edit" @click=${() => this.controller.edit(run)}>${t("Edit")}</button>
      <button
        id="forget"
        class="plain"
        aria-label=${t("Remove this result")}
        @click=${() => this.controller.forget(run)}
        >×</button
      >
    </div>`;
  }

  /** As text of the tool, which is what an agent would have read. */
  private hand(run: EvidenceRun): void {
    const what = [t(questionOf(run.form.question).title), subjectText(run.form)].filter(Boolean).join(": ");
    chatQuote.ask(run.text, what);
  }

  private copy(text: string): void {
    void navigator.clipboard.writeText(text).then(() => {
      this.isCopied = true;
      setTimeout(() => (this.isCopied = false), COPIED_FOR_MS);
    });
  }

  private body(run: EvidenceRun) {
    if (run.state === "running") return this.running(run);
    if (run.state === "cancelled") return html`<p class="none" role="status">${t("You cancelled this run.")}</p>`;
    if (run.error) return this.problem(run);
    const again = (event: CustomEvent<Partial<EvidenceForm>>) => void this.controller.again(run, event.detail);
    switch (run.form.question) {
      case "explain_failure":
        return html`<dragoman-failure-card .run=${run} @again=${again}></dragoman-failure-card>`;
      case "trace_call":
        return this.tracedCall(run);
      case "trace":
        return html`<dragoman-trace-table .run=${run}></dragoman-trace-table>`;
      case "compare_runs":
        return html`<dragoman-run-comparison .run=${run}></dragoman-run-comparison>`;
      default:
        return html`<dragoman-finding .run=${run} @again=${again}></dragoman-finding>`;
    }
  }

  private tracedCall(run: EvidenceRun) {
    const { record } = run.page as TracedCallPage;
    const { ended, calls, place, text } = run.data as unknown as TracedCallResult;
    if (!record) return html`<p class="none">${text}</p>${renderRunEnd(ended)}`;
    return html`<section class="card">
        <h3
          ><span class="mono">${record.function}</span>
          <span class="place">${place}</span>
          ${calls > 1 ? html`<span class="quiet">${t("call {number} of {count}", { number: record.call, count: calls })}</span>` : nothing}</h3
        >
        <dragoman-traced-call .record=${record}></dragoman-traced-call>
      </section>
      ${renderRunEnd(ended)}`;
  }

  private running(run: EvidenceRun) {
    const seconds = (Date.now() - run.startedAt) / 1000;
    return html`<div class="card running" role="status" aria-live="off">
      <p><b>${t("Running under the debugger…")}</b> <span id="elapsed">${elapsed(run)}</span></p>
      <progress
        max=${run.form.timeout}
        .value=${Math.min(seconds, run.form.timeout)}
        aria-label=${t("Time")}
      ></progress>
      <p class="quiet small">${t("It ends after {seconds} s at the latest.", { seconds: run.form.timeout })}</p>
      <button id="cancel" @click=${() => this.controller.cancel(run)}>${t("Cancel")}</button>
    </div>`;
  }

  private problem(run: EvidenceRun) {
    const { message, hint, wouldRun, untrusted } = run.error!;
    const { nearest = [] } = (run.data["details"] ?? {}) as { nearest?: string[] };
    return html`<div class="card problem" role="alert">
      <p class="bad"><b>${message}</b></p>
      ${hint ? html`<p class="quiet">${withInlineCode(hint)}</p>` : nothing}
      ${wouldRun ? html`<p class="small">${t("It would run:")}</p><pre class="would-run" tabindex="0">${wouldRun}</pre>` : nothing}
      ${nearest.length ? this.similar(run, nearest) : nothing}
      <div class="actions"
        >${untrusted ? html`<button id="trust" class="primary" title=${untrusted} @click=${() => this.controller.trust(run, untrusted)}>${t("Trust {name} and run", { name: baseName(untrusted) })}</button>` : nothing}
        <button @click=${() => this.controller.edit(run)}>${t("Edit")}</button></div
      >
    </div>`;
  }

  /** What was probably meant. */
  private similar(run: EvidenceRun, names: readonly string[]) {
    const isFunction = run.form.question === "trace_call";
    return html`<p class="similar"
      ><span class="quiet">${t("Similar names:")}</span> ${names.map((name) =>
        isFunction
          ? html`<button class="mono" @click=${() => this.controller.again(run, { function: name })}>${name}</button> `
          : html`<code>${name}</code> `,
      )}</p
    >`;
  }

  private recorded(trace: RecordedTrace) {
    return html`<header class="heading">
        <h2>${t("Trace")}</h2>
        <div class="actions"
          ><button id="copy" @click=${() => this.copy(trace.table)}
            >${t(this.isCopied ? "Copied" : "Copy for an agent")}</button
          ></div
        >
        <p class="mono about">${trace.place}</p>
        <p class="verdict">${t("by {who}", { who: trace.actor || t("an agent") })}</p>
      </header>
      <div class="card"><pre class="text" tabindex="0" data-about=${trace.place}>${trace.table}</pre></div>`;
  }

  static override styles = [sharedStyles, evidenceStyles];
}

function elapsed({ startedAt }: EvidenceRun): string {
  return t("{seconds} s", { seconds: ((Date.now() - startedAt) / 1000).toFixed(1) });
}

function baseName(path: string): string {
  return path.replace(/\/+$/, "").replace(/^.*\//, "");
}
