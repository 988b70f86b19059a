/** A failure as a card: what failed with both sides, the line, the calls behind it, and what was printed. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import { highlighted, tokenStyles } from "../../source/highlight";
import { assertionOf, differingParts, type Assertion, type Part } from "./assertion";
import { argumentText, type CallRecord } from "./callRecord";
import { output, pairs, waiting } from "./runEnd";
import "./sourceExcerpt";
import { resultStyles } from "./styles";
import {
  placeOf,
  type Cause,
  type Exception,
  type ExplainedFailure,
  type Failure,
  type FailureFrame,
} from "./toolResults";
import "./tracedCall";
import { verdictOf } from "../verdict";
import type { EvidenceRun } from "../evidenceController";

const OPEN_CALLS = 1;
const MOST_PLACES = 3;

@customElement("dragoman-failure-card")
export class FailureCard extends LitElement {
  @property({ attribute: false }) run: EvidenceRun | null = null;

  override render() {
    if (!this.run) return nothing;
    const result = this.run.data as unknown as ExplainedFailure;
    const records = (this.run.page["records"] ?? []) as CallRecord[];
    const failures = failuresOf(result);
    if (result.verdict === "passed") return html`${this.passed(result)} ${output(result.ended.output)}`;
    return html`
      ${result.verdict === "limit" ? this.hang(result) : nothing} ${failures.map((it) => this.failure(it, result))}
      ${failures.length || result.verdict === "limit" ? nothing : this.plainEnd(result)} ${this.others(result)}
      ${this.calls(records)} ${output(result.ended.output)}
    `;
  }

  private passed({ runs }: ExplainedFailure) {
    return html`<section class="card passed">
      <div class="inner">
        <p><b>${t("It did not fail again.")}</b></p>
        <p class="quiet"
          >${t("Runs without a failure: {count}. What fails now and then may need more of them.", { count: runs })}</p
        >
        <button
          id="repeat"
          class="primary"
          @click=${() => this.dispatchEvent(new CustomEvent("again", { detail: { repeat: 20, timeout: 300 } }))}
          >${t("Run up to 20 times")}</button
        >
      </div>
    </section>`;
  }

  private hang({ ended }: ExplainedFailure) {
    const places = [...(ended.threads ?? []), ...(ended.tasks ?? [])].flatMap((it) =>
      it.file_path && it.line_number ? [{ ...it, path: it.file_path, line: it.line_number }] : [],
    );
    const frames = (ended.frames ?? []).flatMap((it) =>
      it.file_path && it.line ? [{ name: "", path: it.file_path, line: it.line }] : [],
    );
    const distinct = new Map([...places, ...frames].map((it) => [`${it.path}:${it.line}`, it]));
    const waitingAt = ({ path, line }: { path: string; line: number }) =>
      places
        .filter((it) => it.path === path && it.line === line)
        .map(({ name, waits_for: what }) => (what ? `${name}: ${t("waits for {what}", { what })}` : name));
    return html`<section class="card headline">
        <div class="inner">
          <p class="kind bad">${ended.deadlock ?? t("Did not end in time")}</p>
          <p class="quiet">${t("It was here when its time was over:")}</p>
        </div>
        ${[...distinct.values()]
          .slice(0, MOST_PLACES)
          .map(
            (it) =>
              html`<p class="place inner">${it.path}</p>
                <dragoman-source-excerpt
                  .path=${it.path}
                  .line=${it.line}
                  .workspace=${this.run!.workspace}
                  .notes=${waitingAt(it)}
                ></dragoman-source-excerpt>`,
          )} </section
      >${waiting(ended)}`;
  }

  private plainEnd(result: ExplainedFailure) {
    const verdict = verdictOf(this.run!);
    return html`<section class="card headline"
      ><div class="inner"
        ><p class="kind bad">${verdict.text}</p>
        ${result.verdict === "no tests" ? html`<p class="quiet">${t("Check the id of the test, or pass the command that runs it.")}</p>` : html`<p class="quiet">${t("There is no exception to explain; see the output.")}</p>`}</div
      ></section
    >`;
  }

  private failure(failure: Failure, { runs }: ExplainedFailure) {
    const { exception, frames, test } = failure;
    const [innermost, ...callers] = frames;
    return html`<section class="card headline" aria-label=${test ?? t("Failure")}>
      ${test ? html`<h3><span class="mono">${test}</span> ${runs > 1 ? html`<span class="quiet small">${t("runs: {count}", { count: runs })}</span>` : nothing}</h3>` : nothing}
      <div class="inner">
        ${exception ? this.headline(exception) : nothing} ${innermost ? this.frame(innermost, true) : nothing}
        ${callers.map((it) => this.frame(it, false))}
        ${failure.more_frames ? html`<p class="quiet small">${t("and {count} more", { count: failure.more_frames })}</p>` : nothing}
        ${(failure.caused_by ?? []).map(cause)}
      </div>
    </section>`;
  }

  private headline({ type, message }: Exception) {
    const sides = assertionOf(message);
    if (sides) return html`<p class="kind bad">${type}</p>${comparison(sides)}`;
    const [first, ...rest] = message.split("\n");
    return html`<p class="kind bad">${type}${first ? html`<span class="message">: ${first}</span>` : nothing}</p>
      ${rest.some((line) => line.trim()) ? html`<pre class="code rest">${rest.join("\n").trim()}</pre>` : nothing}`;
  }

  private frame(frame: FailureFrame, isInnermost: boolean) {
    const values = { ...frame.locals, ...frame.values };
    return html`<div class="frame ${isInnermost ? "innermost" : ""}">
      <p class="place">${placeOf(frame)} <b>${frame.function}</b></p>
      ${frame.source ? html`<pre class="code line" data-about=${placeOf(frame)}>${highlighted(frame.source, frame.file_path ?? "")}</pre>` : nothing}
      ${
        Object.keys(values).length
          ? html`<details ?open=${isInnermost}
              ><summary class="small quiet">${t("values: {count}", { count: Object.keys(values).length })}</summary
              >${pairs(values)}</details
            >`
          : nothing
      }
    </div>`;
  }

  /** Those of which no details are shown. */
  private others({ test }: ExplainedFailure) {
    const shown = new Set(test?.failures?.map((it) => it.test));
    const others = (test?.failed ?? []).filter((it) => !shown.has(it));
    if (!others.length) return nothing;
    return html`<details class="card"
      ><summary class="inner small">${t("Also failed: {count}", { count: others.length })}</summary>
      <ul class="inner mono"
        >${others.map((it) => html`<li>${it}</li>`)}</ul
      ></details
    >`;
  }

  private calls(records: readonly CallRecord[]) {
    if (!records.length) return nothing;
    return html`<section aria-label=${t("The calls behind it")}>
      <h3 class="above">${t("The calls behind it")}</h3>
      ${records.some((it) => it.has_passed) ? html`<p class="small warn">${t("The traced run did not fail, so its values may differ.")}</p>` : nothing}
      ${records.map(
        (record, index) =>
          html`<details class="card call" ?open=${index < OPEN_CALLS}>
            <summary
              ><span class="head"
                ><b>${record.function}</b>(<span class="args">${argumentText(record.args)}</span
                ><span class="cut">…</span>) ${ending(record)}</span
              >
              <span class="place">${record.file}:${record.first}</span></summary
            >
            <dragoman-traced-call .record=${record}></dragoman-traced-call>
          </details>`,
      )}
    </section>`;
  }

  static override styles = [
    sharedStyles,
    resultStyles,
    tokenStyles,
    css`
      .headline {
        border-color: color-mix(in srgb, var(--bad) 45%, var(--line));
      }
      .passed {
        border-color: var(--good);
      }
      .kind {
        font-weight: 600;
        font-size: 1rem;
        margin: 0 0 0.4rem;
        overflow-wrap: anywhere;
      }
      .message {
        font-weight: 600;
      }
      .sides {
        display: grid;
        grid-template-columns: max-content minmax(0, 1fr);
        border: 1px solid var(--line);
        border-radius: 0.4rem;
        overflow: hidden;
        margin-bottom: 0.6rem;
      }
      .sides .label {
        padding: 0.25rem 0.7rem;
        background: var(--raised);
        font: 0.84rem/1.5 var(--mono);
        color: var(--quiet);
        text-align: right;
      }
      .sides pre {
        padding: 0.25rem 0.7rem;
      }
      .sides .got {
        background: color-mix(in srgb, var(--removed) 45%, transparent);
      }
      .sides .wanted {
        background: color-mix(in srgb, var(--added) 45%, transparent);
      }
      .got mark {
        background: color-mix(in srgb, var(--bad) 28%, var(--removed));
      }
      .wanted mark {
        background: color-mix(in srgb, var(--good) 28%, var(--added));
      }
      mark {
        color: inherit;
        border-radius: 0.2rem;
        font-weight: 600;
      }
      .rest {
        color: var(--quiet);
        margin-bottom: 0.5rem;
        max-height: 14rem;
        overflow: auto;
      }
      .frame {
        margin-top: 0.5rem;
      }
      .frame .line {
        padding: 0.2rem 0.7rem;
        border-left: 3px solid var(--line);
        background: var(--paper);
      }
      .frame.innermost .line {
        border-left-color: var(--bad);
        background: var(--bad-card);
      }
      .frame details {
        margin: 0.25rem 0 0 0.2rem;
      }
      .above {
        font-size: 0.85rem;
        margin: 1.1rem 0 0.4rem;
        color: var(--quiet);
      }
      .call > summary {
        display: flex;
        flex-wrap: wrap;
        gap: 0.1rem 1rem;
        justify-content: space-between;
        align-items: baseline;
        padding: 0.45rem 0.8rem;
        font: 0.86rem/1.5 var(--mono);
      }
      .call[open] > summary {
        border-bottom: 1px solid var(--line);
        background: var(--raised);
      }
      .call > summary::before {
        content: "▸";
        color: var(--quiet);
        margin-right: -0.5rem;
        font-family: var(--text);
      }
      .call[open] > summary::before {
        content: "▾";
      }
      .cut,
      .call[open] .args {
        display: none;
      }
      .call[open] .args:not(:empty) + .cut {
        display: inline;
      }
      .head {
        flex: 1 1 20rem;
        overflow-wrap: anywhere;
        display: -webkit-box;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 3;
        overflow: hidden;
      }
      .headline > .place {
        padding-bottom: 0;
        border-top: 1px solid var(--line);
        margin: 0;
      }
      .threads li {
        padding: 0.15rem 0;
      }
    `,
  ];
}

/** A crash has the fields of one failure. */
function failuresOf({ test, crash }: ExplainedFailure): Failure[] {
  if (test) return test.failures ?? [];
  if (!crash?.crashed) return [];
  const { exception } = crash.ended;
  return [{ ...crash, ...(exception ? { exception } : {}) }];
}

function comparison({ left, operator, right, rest }: Assertion) {
  const [got, wanted] = differingParts(left, right);
  return html`<div class="sides" role="group" aria-label=${t("Both sides of the comparison")}>
      <span class="label">assert</span><pre class="code got" id="left">${got.map(marked)}</pre>
      <span class="label">${operator}</span><pre class="code wanted" id="right">${wanted.map(marked)}</pre>
    </div>
    ${rest ? html`<details><summary class="small quiet">${t("Where the sides come from")}</summary><pre class="code rest">${rest}</pre></details>` : nothing}`;
}

function marked({ text, differs }: Part) {
  const shown = text.replaceAll("\\n", "\\n\n");
  return differs ? html`<mark>${shown}</mark>` : shown;
}

function ending({ end }: CallRecord) {
  if (end.how === "returned") return end.value === undefined ? nothing : html`→ ${end.value}`;
  if (end.how === "raised") return html`<span class="bad">✗ ${end.error}</span>`;
  return html`<span class="warn">${t(end.how === "suspended" ? "suspended" : "did not end")}</span>`;
}

function cause({ type, message, at, locals }: Cause) {
  return html`<div class="frame"
    ><p class="small"><span class="quiet">${t("Caused by")}</span> <b>${type}</b>: ${message}</p>
    ${at ? html`<p class="place">${at}</p>` : nothing} ${pairs(locals)}</div
  >`;
}
