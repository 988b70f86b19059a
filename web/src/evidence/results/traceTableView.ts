/** A trace as a table that can be sorted and filtered; only the rows in sight are drawn. */
import { LitElement, css, html, nothing, svg, type PropertyValues } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import "../../parts/rows";
import type { EvidenceRun } from "../evidenceController";
import { renderRunEnd } from "./runEnd";
import "./sourceExcerpt";
import { resultStyles } from "./styles";
import { splitPlace, type TraceResult } from "./toolResults";
import {
  arranged,
  isUnset,
  sparkline,
  traceTable,
  type Column,
  type Order,
  type TableRow,
  type TraceTable,
} from "./traceRows";

const ROW_PX = 27;
const LEAST_PX = 200;
const [SPARK_WIDTH, SPARK_HEIGHT] = [110, 22];

@customElement("dragoman-trace-table")
export class TraceTableView extends LitElement {
  @property({ attribute: false }) run: EvidenceRun | null = null;
  @state() private filter = "";
  @state() private onlyChanged = false;
  @state() private order: Order = { column: -1, isDescending: false };
  @state() private chosen: TableRow | null = null;
  private table: TraceTable = { columns: [], rows: [] };

  protected override willUpdate(changed: PropertyValues): void {
    if (!changed.has("run") || !this.run) return;
    const { points, rows } = this.result;
    this.table = traceTable(points, rows);
    [this.filter, this.onlyChanged, this.chosen] = ["", false, null];
    this.order = { column: -1, isDescending: false };
  }

  private get result(): TraceResult {
    return this.run!.data as unknown as TraceResult;
  }

  override render() {
    if (!this.run) return nothing;
    const { points, rows_left_out: leftOut, ended } = this.result;
    const rows = arranged(this.table, this.filter, this.order, this.onlyChanged);
    return html`
      ${points.map(
        (it, at) =>
          html`<p class="small"
            >${points.length > 1 ? html`<b>@${at + 1}</b> ` : nothing}<span class="place">${it.place}</span>
            ${it.condition ? html`<span class="quiet">${t("where")} <code>${it.condition}</code></span>` : nothing}
            <span class="quiet">${t("hits: {count}", { count: it.hits })}</span>
            ${it.not_bound ? html`<span class="bad">${it.not_bound}</span>` : nothing}</p
          >`,
      )}
      ${this.table.rows.length ? this.whole(rows) : html`<p class="none">${t("The line was never reached.")}</p>`}
      ${leftOut ? html`<p class="small warn">${t("Rows in the middle that were not kept: {count}", { count: leftOut })}</p>` : nothing}
      ${renderRunEnd(ended)}
    `;
  }

  private whole(rows: TableRow[]) {
    const hasPoints = this.result.points.length > 1;
    const hasThreads = this.table.rows.some(({ thread }) => thread > 1);
    const columns = this.table.columns;
    const widths = `3.6rem ${hasPoints ? "2.6rem " : ""}${hasThreads ? "2.6rem " : ""}repeat(${columns.length}, minmax(var(--least), 1fr))`;
    return html`
      ${this.excerpt(this.chosen ?? this.table.rows[0]!)}
      <div class="bar">
        <input
          type="search"
          id="filter"
          aria-label=${t("Filter rows")}
          placeholder=${t("Filter rows")}
          .value=${this.filter}
          @input=${(event: InputEvent) => (this.filter = (event.target as HTMLInputElement).value)}
        />
        <label class="check"
          ><input
            type="checkbox"
            id="only-changed"
            .checked=${this.onlyChanged}
            @change=${(event: Event) => (this.onlyChanged = (event.target as HTMLInputElement).checked)}
          />
          ${t("Only rows with a change")}</label
        >
        <span class="quiet small" role="status"
          >${t("{shown} of {count} rows", { shown: rows.length, count: this.table.rows.length })}</span
        >
      </div>
      <div class="card wide">
        <div class="table" role="group" aria-label=${t("Trace")} .style=${`--columns:${widths}`}>
          <div class="grid head"
            >${this.heading("#", -1, null)} ${hasPoints ? html`<span>@</span>` : nothing}
            ${hasThreads ? html`<span>${t("thread")}</span>` : nothing}
            ${columns.map((it, index) => this.heading(it.expression, index, it))}</div
          >
          <dragoman-rows
            tabindex="0"
            aria-label=${t("Rows")}
            .style=${`flex:0 1 ${rows.length * ROW_PX}px;min-height:${Math.min(rows.length * ROW_PX, LEAST_PX)}px`}
            .rows=${rows}
            .height=${ROW_PX}
            .renderRow=${(row: TableRow) => this.row(row, hasPoints, hasThreads)}
          ></dragoman-rows>
        </div>
      </div>
    `;
  }

  private heading(name: string, index: number, column: Column | null) {
    const { order } = this;
    const isSorted = order.column === index;
    const direction = isSorted ? t(order.isDescending ? "descending" : "ascending") : "";
    const first = column && column.firstChange >= 0 ? this.table.rows[column.firstChange]! : null;
    return html`<span
      ><button
        class="plain"
        title=${name}
        aria-label=${t("Sort by {name}", { name })}
        aria-description=${direction}
        @click=${() => (this.order = { column: index, isDescending: isSorted && !order.isDescending })}
        ><span class="name mono">${name}</span
        >${isSorted ? html`<span aria-hidden="true">${order.isDescending ? "↓" : "↑"}</span>` : nothing}</button
      >${column?.series ? spark(column) : nothing}
      ${first ? html`<button class="plain first" @click=${() => this.reveal(first)}>${t("changes at {hit}", { hit: first.hit })}</button>` : column ? html`<span class="quiet first">${t("never changes")}</span>` : nothing}</span
    >`;
  }

  /** Brings a row into sight, in the order in which they were recorded. */
  private reveal(row: TableRow): void {
    [this.filter, this.onlyChanged, this.chosen] = ["", false, row];
    this.order = { column: -1, isDescending: false };
    const at = this.table.rows.indexOf(row);
    void this.updateComplete.then(() => {
      const rows = this.renderRoot.querySelector("dragoman-rows");
      if (rows) rows.scrollTop = Math.max(0, (at - 4) * ROW_PX);
    });
  }

  private row(row: TableRow, hasPoints: boolean, hasThreads: boolean) {
    return html`<div class="grid row ${row === this.chosen ? "chosen" : ""}" @click=${() => (this.chosen = row)}>
      <span class="hit"
        ><button class="plain" aria-pressed=${row === this.chosen} aria-label=${this.rowText(row)}
          >${row.hit}</button
        ></span
      >
      ${hasPoints ? html`<span class="quiet">@${row.point + 1}</span>` : nothing}
      ${hasThreads ? html`<span class="quiet">${row.thread}</span>` : nothing}
      ${row.cells.map((cell) =>
        cell === null || isUnset(cell)
          ? html`<span class="quiet">–</span>`
          : html`<span
              class="${cell.changed ? "changed" : cell.isFirst ? "" : "same"} ${cell.failed ? "bad" : ""}"
              title=${cell.text}
              >${cell.failed ? "! " : ""}${cell.text}</span
            >`,
      )}
    </div>`;
  }

  /** A row for who hears it. */
  private rowText({ hit, cells }: TableRow): string {
    const values = this.table.columns.flatMap(({ expression }, index) =>
      cells[index] ? [`${expression} ${cells[index].text}`] : [],
    );
    return [t("hit {hit}", { hit }), ...values].join(", ");
  }

  private excerpt(row: TableRow) {
    const point = this.result.points[row.point]!;
    const place = splitPlace(point.place);
    if (!place) return nothing;
    const values = this.table.columns.flatMap(({ expression }, index) => {
      const cell = row.cells[index];
      return cell && !cell.failed && (cell.changed || cell.isFirst) ? [`${expression} = ${cell.text}`] : [];
    });
    return html`<section class="card" id="excerpt" aria-label=${t("Source")}>
      <h3>${point.place} <span class="quiet">${t("hit {hit}", { hit: row.hit })}</span></h3>
      <dragoman-source-excerpt
        .path=${place.path}
        .line=${place.line}
        .workspace=${this.run!.workspace}
        .notes=${values}
      ></dragoman-source-excerpt>
    </section>`;
  }

  /** As tall as its window, so that only the rows scroll. */
  static override styles = [
    sharedStyles,
    resultStyles,
    css`
      :host {
        --least: 9.5rem;
        display: flex;
        flex-direction: column;
        min-height: 0;
      }
      :host > * {
        flex: none;
      }
      .card.wide {
        flex: 0 1 auto;
        min-height: 0;
        display: flex;
      }
      .wide .table {
        flex: 1;
        display: flex;
        flex-direction: column;
        min-height: 0;
      }
      .bar {
        display: flex;
        flex-wrap: wrap;
        gap: 0.4rem 1rem;
        align-items: center;
        margin: 0.5rem 0;
      }
      .bar input[type="search"] {
        flex: 0 1 16rem;
        padding: 0.2rem 0.6rem;
      }
      .check {
        display: flex;
        gap: 0.35rem;
        align-items: center;
        font-size: 0.9rem;
      }
      .none {
        padding: 1.2rem;
        color: var(--quiet);
      }
      .wide {
        overflow: auto hidden;
      }
      .table {
        min-width: max-content;
      }
      .grid {
        display: grid;
        grid-template-columns: var(--columns);
      }
      .head {
        border-bottom: 1px solid var(--line);
        background: var(--raised);
        align-items: start;
        padding: 0.2rem 0;
      }
      .head > span {
        display: flex;
        flex-direction: column;
        align-items: flex-start;
        min-width: 0;
        padding: 0 0.2rem;
      }
      .head button {
        padding: 0.1rem 0.4rem;
        max-width: 100%;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
        font-weight: 600;
      }
      .head .first {
        font-size: 0.75rem;
        font-weight: 400;
        padding: 0 0.4rem;
      }
      button.first {
        color: var(--accent);
      }
      svg {
        max-width: calc(100% - 0.8rem);
        margin: 0.1rem 0.4rem;
        overflow: visible;
      }
      path {
        fill: none;
        stroke: var(--accent);
        stroke-width: 1.5;
        stroke-linejoin: round;
      }
      .range {
        font: 0.7rem var(--mono);
        color: var(--quiet);
      }
      .row {
        height: 27px;
        border-bottom: 1px solid color-mix(in srgb, var(--line) 55%, transparent);
        font: 0.84rem/26px var(--mono);
        cursor: pointer;
      }
      .row:hover {
        background: var(--raised);
      }
      .row.chosen {
        background: var(--raised);
        box-shadow: inset 3px 0 var(--accent);
      }
      .row > span {
        padding: 0 0.6rem;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
        min-width: 0;
        max-width: 34rem;
      }
      @media (max-width: 40rem) {
        :host {
          --least: 6rem;
        }
      }
      @media (max-width: 60rem) {
        dragoman-rows {
          max-height: 60dvh;
        }
        :host,
        .card.wide,
        .wide .table {
          display: block;
        }
      }
      .row > .hit {
        padding: 0;
      }
      .hit button {
        width: 100%;
        padding: 0 0.6rem;
        text-align: right;
        color: var(--quiet);
        font: inherit;
      }
      .same {
        color: var(--quiet);
      }
      .changed {
        background: color-mix(in srgb, var(--marked) 60%, transparent);
        box-shadow: inset 2px 0 var(--warn);
      }
    `,
  ];
}

function spark({ series, expression }: Column) {
  const numbers = series!.filter((it) => it !== null);
  const [low, high] = [numbers.reduce((a, b) => Math.min(a, b)), numbers.reduce((a, b) => Math.max(a, b))];
  const label = t("{name}: from {low} to {high}", { name: expression, low, high });
  return html`<svg
    role="img"
    preserveAspectRatio="none"
    aria-label=${label}
    width=${SPARK_WIDTH}
    height=${SPARK_HEIGHT}
    viewBox="0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}"
  >
    <title>${label}</title>
    ${svg`<path d=${sparkline(series!, SPARK_WIDTH, SPARK_HEIGHT)}></path>`}
  </svg>`;
}
