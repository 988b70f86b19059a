/** Values over time: every variable with its curve, and one of them as a chart and a table that lead to its stops. */
import { LitElement, html, nothing, type PropertyValues } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import "../../parts/rows";
import { chart, sparkline } from "./chart";
import { seriesStyles } from "./styles";
import {
  firstDifference,
  numberOf,
  SeriesIndex,
  type Series,
  type SeriesPoint,
  type SeriesSource,
} from "./valueSeries";

const HEIGHT = 26;
/** Work between two frames, so that nothing stands still meanwhile. */
const BUDGET_MS = 8;

@customElement("dragoman-value-series")
export class DragomanValueSeries extends LitElement {
  @property({ attribute: false }) source: SeriesSource | null = null;
  /** The variable that is looked at; empty for the list of all. */
  @property() name = "";
  /** The number of the stop that is shown. */
  @property({ type: Number }) stop = 0;
  @state() private chosenKey = "";
  @state() private value = "";
  /** A sentence about the last search. */
  @state() private notice = "";
  @query("dragoman-rows") private rows!: HTMLElement | null;
  private index: SeriesIndex | null = null;
  private all: Series[] = [];
  private frame = 0;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("source") && this.source && !this.index?.isOf(this.source)) {
      this.index = new SeriesIndex(this.source);
      this.collect();
    }
    if (changed.has("name") && this.name) {
      this.chosenKey = this.seriesNamed(this.name)?.key ?? "";
      this.notice = "";
    }
  }

  private readonly collect = (): void => {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const isDone = this.index?.collect(BUDGET_MS) ?? true;
    if (!isDone) this.frame = requestAnimationFrame(this.collect);
    this.all = this.index?.list() ?? [];
    if (isDone && this.name && !this.chosenKey) this.chosenKey = this.seriesNamed(this.name)?.key ?? "";
    this.requestUpdate();
  };

  /** Where the program stands, if it is there more than once. */
  private seriesNamed(name: string): Series | undefined {
    const named = this.all.filter((it) => it.name === name);
    return named.find(({ points }) => points.some(({ stop }) => stop === this.stop)) ?? named[0];
  }

  override render() {
    const series = this.all.find(({ key }) => key === this.chosenKey);
    return series ? this.one(series) : this.every();
  }

  private every() {
    if (!this.all.length)
      return html`<p class="empty"
        >${t("The values of variables at each stop appear here, with a curve for those that are numbers.")}</p
      >`;
    return html`<dragoman-rows
      aria-label=${t("Variables over time")}
      .rows=${this.all}
      .height=${HEIGHT}
      .renderRow=${(it: Series) => this.variable(it)}
    ></dragoman-rows>`;
  }

  private variable(series: Series) {
    const { name, scope, changes, points } = series;
    const last = points.at(-1)?.value ?? "";
    const said = changes > 1 ? t("{count} changes", { count: changes }) : t(changes ? "1 change" : "always the same");
    return html`<button
      class="plain row variable ${changes ? "" : "constant"}"
      title=${`${name} (${scope})`}
      @click=${() => this.choose(series)}
      ><span class="name">${name} <span class="delta">${scope}</span></span
      >${sparkline(series)}<span>${last}</span><span class="delta">${said}</span></button
    >`;
  }

  private choose({ key }: Series): void {
    [this.chosenKey, this.value, this.notice] = [key, "", ""];
  }

  private one(series: Series) {
    const { points, name, scope } = series;
    const shown = points.findLastIndex(({ stop }) => stop > 0 && stop === this.stop);
    const label = t("{name} over {count} values", { name, count: points.length });
    return html`<form @submit=${(event: Event) => this.jump(event, series)}>
        <button type="button" class="plain" @click=${() => ([this.chosenKey, this.name] = ["", ""])}
          >← ${t("All variables")}</button
        >
        <span class="title">${name}</span><span class="delta">${scope}</span><span class="grow"></span>
        <label
          ><span class="unseen">${t("Expected value")}</span
          ><input
            placeholder=${t("expected value")}
            spellcheck="false"
            autocomplete="off"
            .value=${this.value}
            @input=${(event: Event) => (this.value = (event.target as HTMLInputElement).value)}
        /></label>
        <button class="first" title=${t("With an expected value: the first stop at which it is something else.")}
          >${t("Go to the first difference")}</button
        ><span role="status">${this.notice}</span>
      </form>
      ${chart(series, shown, label, (index) => this.goTo(series, index))}
      <dragoman-rows
        aria-label=${label}
        .rows=${points}
        .height=${HEIGHT}
        .renderRow=${(point: SeriesPoint, index: number) => this.point(series, point, index)}
      ></dragoman-rows>`;
  }

  private point(series: Series, point: SeriesPoint, index: number) {
    const before = series.points[index - 1];
    const isChanged = before !== undefined && before.value !== point.value;
    const difference = isChanged && series.isNumeric ? numberOf(point) - numberOf(before) : 0;
    const isShown = point.stop > 0 && point.stop === this.stop;
    return html`<button
      class="plain row point ${isShown ? "chosen" : ""}"
      aria-current=${isShown ? "true" : nothing}
      ?disabled=${!point.stop}
      @click=${() => this.goTo(series, index)}
      ><span class="delta">${point.stop ? `#${point.stop}` : ""}</span><span class="delta">${point.place}</span
      ><span><span class=${isChanged ? "changed" : ""}>${point.value}</span></span
      ><span class="delta"
        >${difference ? `${difference > 0 ? "+" : "−"}${rounded(Math.abs(difference))}` : ""}</span
      ></button
    >`;
  }

  private jump(event: Event, series: Series): void {
    event.preventDefault();
    const index = firstDifference(series.points, this.value.trim());
    this.notice = index < 0 ? t("It never differs.") : "";
    if (index >= 0) this.goTo(series, index);
  }

  private goTo({ points }: Series, index: number): void {
    if (this.rows) this.rows.scrollTop = Math.max(0, (index - 2) * HEIGHT);
    const { stop } = points[index]!;
    if (stop) this.dispatchEvent(new CustomEvent("stop-chosen", { detail: stop }));
  }

  static override styles = [sharedStyles, seriesStyles];
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(6)));
}
