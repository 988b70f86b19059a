/** Answers that are one place with its values: the hit that breaks a condition, the line that changes a value. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import type { EvidenceRun } from "../evidenceController";
import { renderRunEnd } from "./runEnd";
import "./sourceExcerpt";
import { resultStyles } from "./styles";
import { placeOf, splitPlace, type CheckedClaim, type FoundChange, type Frame } from "./toolResults";

@customElement("dragoman-finding")
export class Finding extends LitElement {
  @property({ attribute: false }) run: EvidenceRun | null = null;

  override render() {
    if (!this.run) return nothing;
    return this.run.form.question === "check"
      ? this.claim(this.run.data as unknown as CheckedClaim)
      : this.change(this.run.data as unknown as FoundChange);
  }

  private claim({ verdict, hits, place, not_bound: why, error, before, at_break: now, ended }: CheckedClaim) {
    const { claim } = this.run!.form;
    const heads = {
      "holds": html`<p class="head good"
        >✓ <code>${claim}</code> ${t("holds at all {count} hits", { count: hits })}</p
      >`,
      "broken": html`<p class="head bad">✗ <code>${claim}</code> ${t("does not hold at hit {hit}", { hit: hits })}</p>`,
      "never reached": html`<p class="head warn">${t("The line was never reached.")}</p>`,
    };
    return html`<section class="card" id="finding">
        <div class="inner">
          ${heads[verdict]} <span class="place">${place}</span> ${why ? html`<p class="bad">${why}</p>` : nothing}
          ${error ? html`<p class="bad">${error}</p>` : nothing}
        </div>
        ${this.excerpt(place, this.values(now))} ${now ? this.violation(before, now, hits) : nothing}
      </section>
      ${verdict === "broken" ? html`<p><button id="all-hits" @click=${this.traceAll}>${t("List every hit with its values")}</button></p>` : nothing}
      ${this.stack(ended.frames)} ${renderRunEnd(ended)}`;
  }

  private values(now: Record<string, string> | undefined): string[] {
    return Object.entries(now ?? {}).map(([name, value]) => `${name} = ${value}`);
  }

  private violation(before: Record<string, string> | undefined, now: Record<string, string>, hit: number) {
    const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(now)])];
    return html`<table
      ><thead
        ><tr
          ><th scope="col">${t("Value")}</th><th scope="col">${t("before")}</th
          ><th scope="col">${t("at hit {hit}", { hit })}</th></tr
        ></thead
      ><tbody
        >${names.map((name) => html`<tr><th scope="row">${name}</th><td>${before?.[name] ?? "–"}</td><td class=${before?.[name] === now[name] ? "" : "changed"}>${now[name] ?? "–"}</td></tr>`)}</tbody
      ></table
    >`;
  }

  /** The same run as a trace, with the condition as its first column. */
  private readonly traceAll = (): void => {
    const { form, data } = this.run!;
    const names = Object.keys((data as unknown as CheckedClaim).at_break ?? {});
    const [point] = form.points;
    const expressions = [form.claim, ...names].join(", ");
    const detail = { question: "trace", points: [{ ...point!, expressions }] };
    this.dispatchEvent(new CustomEvent("again", { detail }));
  };

  private change(found: FoundChange) {
    const { expression } = this.run!.form;
    const heads = {
      "changed": html`<p class="head"><code>${expression}</code> ${t("is changed by this line:")}</p>`,
      "unchanged": html`<p class="head good"
        ><code>${expression}</code> ${t("did not change in {steps} steps", { steps: found.steps })}</p
      >`,
      "never reached": html`<p class="head warn">${t("The line was never reached.")}</p>`,
    };
    return html`<section class="card" id="finding">
        <div class="inner"
          >${heads[found.verdict]}
          <span class="place">${found.place}</span>
          ${found.not_bound ? html`<p class="bad">${found.not_bound}</p>` : nothing}</div
        >
        ${found.place ? this.excerpt(found.place, [`${found.old ?? ""} → ${found.new ?? ""}`]) : nothing}
        ${
          found.verdict === "changed"
            ? html`<table
                ><tbody
                  ><tr><th scope="row">${t("before")}</th><td>${found.old}</td></tr
                  ><tr><th scope="row">${t("after")}</th><td class="changed">${found.new}</td></tr></tbody
                ></table
              >`
            : nothing
        }
      </section>
      ${this.stack(found.frames)} ${renderRunEnd(found.ended)}`;
  }

  private excerpt(place: string, notes: readonly string[]) {
    const at = splitPlace(place);
    if (!at) return nothing;
    return html`<dragoman-source-excerpt
      .path=${at.path}
      .line=${at.line}
      .workspace=${this.run!.workspace}
      .notes=${notes}
    ></dragoman-source-excerpt>`;
  }

  private stack(frames: readonly Frame[] | undefined) {
    if (!frames?.length) return nothing;
    return html`<section class="card" aria-label=${t("Call stack")}>
      <h3>${t("Call stack")}</h3>
      <ol class="inner"
        >${frames.map((it) => html`<li><b class="mono">${it.function}</b> <span class="place">${placeOf(it)}</span></li>`)}</ol
      >
    </section>`;
  }

  static override styles = [
    sharedStyles,
    resultStyles,
    css`
      .head {
        font-size: 1rem;
        font-weight: 600;
        margin: 0 0 0.2rem;
        overflow-wrap: anywhere;
      }
      .head code {
        font-family: var(--mono);
        font-size: 0.95em;
      }
      dragoman-source-excerpt {
        border-top: 1px solid var(--line);
        padding: 0.3rem 0;
      }
      table {
        width: 100%;
        border-collapse: collapse;
        font: 0.85rem/1.5 var(--mono);
        border-top: 1px solid var(--line);
      }
      th,
      td {
        text-align: left;
        padding: 0.2rem 0.8rem;
        border-bottom: 1px solid color-mix(in srgb, var(--line) 55%, transparent);
        overflow-wrap: anywhere;
        vertical-align: top;
      }
      thead th {
        font: 600 0.8rem var(--text);
        color: var(--quiet);
      }
      tbody th {
        font-weight: 400;
        color: var(--quiet);
        width: 30%;
      }
      .changed {
        background: var(--marked);
        font-weight: 600;
      }
    `,
  ];
}
