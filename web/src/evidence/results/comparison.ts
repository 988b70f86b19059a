/** Two runs beside each other, with their first difference marked and brought into sight. Both scroll as one. */
import { LitElement, css, html, nothing, type PropertyValues } from "lit";
import { customElement, property } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import type { EvidenceRun } from "../evidenceController";
import "../../parts/rows";
import { firstDifference, isSame } from "./rowDifference";
import { endSummary, output, pairs } from "./runEnd";
import "./sourceExcerpt";
import { resultStyles } from "./styles";
import {
  splitPlace,
  type ComparedPage,
  type ComparedRuns,
  type RunEnd,
  type RunRow,
  type TracePoint,
} from "./toolResults";

const ROW_PX = 27;
const MOST_PX = 480;

@customElement("dragoman-run-comparison")
export class RunComparison extends LitElement {
  @property({ attribute: false }) run: EvidenceRun | null = null;

  private get page(): ComparedPage {
    const { points = [], one = [], other = [] } = this.run!.page as Partial<ComparedPage>;
    return { points, one, other };
  }

  protected override updated(changed: PropertyValues): void {
    if (!changed.has("run") || !this.run) return;
    const at = firstDifference(this.page.one, this.page.other);
    for (const it of this.sides) it.scrollTop = Math.max(0, (at - 5) * ROW_PX);
  }

  private get sides(): HTMLElement[] {
    return [...this.renderRoot.querySelectorAll<HTMLElement>("dragoman-rows")];
  }

  /** The other side follows; what it does by itself comes back as no change. */
  private readonly scrolled = (event: Event): void => {
    const moved = event.target as HTMLElement;
    for (const it of this.sides) if (it !== moved) [it.scrollTop, it.scrollLeft] = [moved.scrollTop, moved.scrollLeft];
  };

  override render() {
    if (!this.run) return nothing;
    const result = this.run.data as unknown as ComparedRuns;
    const { points, one, other } = this.page;
    const at = firstDifference(one, other);
    return html`
      ${result.verdict === "different" ? this.difference(result) : html`<p class="good" id="same">${t("Both runs are alike; hits: {count}", { count: result.hits[0] })}</p>`}
      <div class="beside">
        ${this.side("one", t("This run"), one, other, points, at, result.ended)}
        ${this.side("other", this.otherTitle, other, one, points, at, result.other_ended)}
      </div>
    `;
  }

  private get otherTitle(): string {
    return t("The other run: {what}", { what: this.run!.form.other });
  }

  private difference(result: ComparedRuns) {
    const place = splitPlace(result.place ?? "");
    const names = new Set(Object.keys({ ...result.one, ...result.other }));
    return html`<section class="card" id="difference">
      <h3
        >${result.hit ? t("First difference: hit {hit}", { hit: result.hit }) : t("The runs end differently")}
        <span class="place">${result.place}</span></h3
      >
      ${place ? html`<dragoman-source-excerpt .path=${place.path} .line=${place.line} .workspace=${this.run!.workspace}></dragoman-source-excerpt>` : nothing}
      ${
        names.size
          ? html`<div class="inner both">
              <div
                ><span class="quiet small">${t("This run")}</span
                >${result.one ? pairs(result.one, names) : html`<p>${t("did not get there")}</p>`}</div
              >
              <div
                ><span class="quiet small">${this.otherTitle}</span
                >${result.other ? pairs(result.other, names) : html`<p>${t("did not get there")}</p>`}</div
              >
            </div>`
          : nothing
      }
    </section>`;
  }

  private side(
    id: string,
    title: string,
    rows: RunRow[],
    others: RunRow[],
    points: TracePoint[],
    at: number,
    end: RunEnd,
  ) {
    const columns = [...new Set(points.flatMap(({ expressions }) => expressions))];
    const shown = rows.length ? rows : [];
    const count = Math.max(rows.length, others.length);
    const widths = `3.2rem repeat(${columns.length}, minmax(7rem, 1fr))`;
    return html`<section class="side card" aria-label=${title}>
      <h3>${title} <span class="quiet">${t("hits: {count}", { count: rows.length })}</span></h3>
      <div class="wide"
        ><div class="table" .style=${`--columns:${widths}`}>
          <div class="grid head"
            ><span>#</span>${columns.map((it) => html`<span class="mono" title=${it}>${it}</span>`)}</div
          >
          <dragoman-rows
            id=${id}
            tabindex="0"
            aria-label=${title}
            .style=${`height:${Math.min(count * ROW_PX, MOST_PX)}px`}
            .rows=${shown}
            .height=${ROW_PX}
            .renderRow=${(row: RunRow, index: number) => this.row(row, others[index], columns, points, index === at)}
            @scroll=${this.scrolled}
          ></dragoman-rows> </div
      ></div>
      <p class="inner small"><span class="quiet">${t("The run ended:")}</span> ${endSummary(end) || t("stopped")}</p>
      ${output(end.output)}
    </section>`;
  }

  private row(row: RunRow, other: RunRow | undefined, columns: string[], points: TracePoint[], isFirst: boolean) {
    const asked = points[row.point - 1]?.expressions ?? [];
    const cells = columns.map((it) => row.cells[asked.indexOf(it)]);
    const others = columns.map((it) => other?.cells[(points[(other?.point ?? 1) - 1]?.expressions ?? []).indexOf(it)]);
    return html`<div class="grid row ${isFirst ? "first" : ""}" aria-current=${isFirst ? "true" : nothing}
      ><span class="quiet">${row.hit}</span
      >${cells.map((cell, index) => html`<span class=${isSame(cell, others[index]) ? "" : "differs"} title=${cell ?? ""}>${cell ?? "–"}</span>`)}</div
    >`;
  }

  static override styles = [
    sharedStyles,
    resultStyles,
    css`
      .beside {
        display: grid;
        grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
        gap: 0.7rem;
      }
      .both {
        display: grid;
        grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
        gap: 0.7rem;
        border-top: 1px solid var(--line);
      }
      .both .changed {
        font-weight: 600;
      }
      .both > div:first-child .changed {
        background: var(--removed);
      }
      .both > div:last-child .changed {
        background: var(--added);
      }
      .wide {
        overflow-x: auto;
      }
      .grid {
        display: grid;
        grid-template-columns: var(--columns);
        min-width: max-content;
      }
      .head {
        font-size: 0.84rem;
        font-weight: 600;
        border-bottom: 1px solid var(--line);
      }
      .grid > span {
        padding: 0 0.6rem;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
        max-width: 22rem;
      }
      .row {
        height: 27px;
        font: 0.84rem/26px var(--mono);
        border-bottom: 1px solid color-mix(in srgb, var(--line) 55%, transparent);
      }
      .row.first {
        box-shadow: inset 3px 0 var(--bad);
        background: var(--marked);
      }
      .side:first-child .differs {
        background: var(--removed);
      }
      .side:last-child .differs {
        background: var(--added);
      }
      .differs {
        font-weight: 600;
      }
      .side .card {
        margin: 0;
        border-width: 1px 0 0;
        border-radius: 0;
      }
      @media (max-width: 60rem) {
        .beside {
          grid-template-columns: minmax(0, 1fr);
        }
      }
    `,
  ];
}
