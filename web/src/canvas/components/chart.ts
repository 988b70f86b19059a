/** Lines, bars or points; the same numbers as a table for screen readers. */
import { html, nothing, svg } from "lit";
import { t } from "../../link";
import { define } from "../model";
import { list, records, textProperty, text } from "../values";

interface Series {
  name: string;
  values: (number | null)[];
}
interface Scale {
  x(index: number): number;
  y(value: number): number;
  ticks: number[];
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [640, 290, 56, 12, 24, 42];
const EDGE = 0.02; // the outermost points stand beside the axis
const MOST_POINTS = 5000;
const DOTTED = 60; // a value between two that are not there is a point, and no line

define(
  "Chart",
  (node, painter) => {
    const series = records(painter.value(node, "series")).map((one): Series => ({
      name: text(one.name),
      values: list(one.values)
        .slice(0, MOST_POINTS)
        .map((value) => (typeof value === "number" && Number.isFinite(value) ? value : null)),
    }));
    const count = Math.max(1, ...series.map(({ values }) => values.length));
    const given = list(painter.value(node, "x"));
    const x = Array.from({ length: count }, (_, index) => (index < given.length ? given[index] : index + 1));
    const kind = text(node.properties.kind);
    const scale = scaled(series, x, kind);
    const title = textProperty(painter, node, "title");
    return html`<figure class="chart">
      ${title ? html`<figcaption class="title">${title}</figcaption>` : nothing}
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${title || t("Chart")}>
        ${scale.ticks.map((tick) => axis(tick, scale))} ${labels(x, scale)}
        <text class="axis" x="4" y="12">${textProperty(painter, node, "yLabel")}</text>
        <text class="axis" x=${WIDTH - RIGHT} y=${HEIGHT - 6} text-anchor="end">
          ${textProperty(painter, node, "xLabel")}
        </text>
        ${series.map((one, index) => (DRAW[kind] ?? line)(one, scale, index, series.length, count))}
      </svg>
      <div class="legend"
        >${series.map(({ name }, index) => html`<span class="ink${index % 6}">■ <span>${name}</span></span>`)}</div
      >
      <details><summary>${t("As a table")}</summary>${numbers(series, x)}</details>
    </figure>`;
  },
  { fills: true },
);

function scaled(series: Series[], x: unknown[], kind: string): Scale {
  const values = series.flatMap((one) => one.values).filter((value): value is number => value !== null);
  const [low, high] = extent(kind === "scatter" ? values : [0, ...values]); // lines and bars stand on zero
  const ticks = nice(Number.isFinite(low) ? low : 0, Number.isFinite(high) ? high : 1);
  const [bottom, top] = [ticks[0]!, ticks.at(-1)!];
  const inner = WIDTH - LEFT - RIGHT;
  const numeric = kind !== "bar" && x.length > 1 && x.every((value) => typeof value === "number");
  const [first, last] = numeric ? extent(x) : [0, 0];
  const at = (index: number) =>
    numeric && last > first
      ? EDGE + ((1 - 2 * EDGE) * ((x[index] as number) - first)) / (last - first)
      : (index + 0.5) / x.length;
  return {
    x: (index) => LEFT + at(index) * inner,
    y: (value) => HEIGHT - BOTTOM - ((value - bottom) / (top - bottom)) * (HEIGHT - TOP - BOTTOM),
    ticks,
  };
}

/** By hand: so many numbers are no arguments of a function. */
function extent(values: readonly number[]): [number, number] {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}

function nice(low: number, high: number): number[] {
  const span = high - low || Math.abs(high) || 1;
  const rough = span / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const from = Math.floor(low / step) * step;
  const count = Math.min(12, Math.max(1, Math.ceil((high - from) / step)));
  return Array.from({ length: count + 1 }, (_, index) => Number((from + index * step).toPrecision(12)));
}

function axis(tick: number, scale: Scale) {
  const y = scale.y(tick);
  return svg`<line class="grid" x1=${LEFT} x2=${WIDTH - RIGHT} y1=${y} y2=${y} /><text class="tick" x=${LEFT - 6} y=${y + 4} text-anchor="end">${tick.toLocaleString()}</text>`;
}

function labels(x: unknown[], scale: Scale) {
  const every = Math.max(1, Math.ceil(x.length / 8));
  return x.map((value, index) =>
    index % every
      ? nothing
      : svg`<text class="tick" x=${scale.x(index)} y=${HEIGHT - BOTTOM + 18} text-anchor="middle">${text(value).slice(0, 14)}</text>`,
  );
}

function line(one: Series, scale: Scale, index: number) {
  const { values } = one;
  let pen = "M";
  const path = values.map((value, at) => {
    if (value === null) {
      pen = "M";
      return "";
    }
    const point = `${pen}${scale.x(at).toFixed(1)},${scale.y(value).toFixed(1)}`;
    pen = "L";
    return point;
  });
  return svg`<path class="ink${index % 6}" d=${path.join("")} fill="none" stroke="currentColor" stroke-width="2" />${values.length <= DOTTED ? points(one, scale, index) : nothing}`;
}

function bars({ values }: Series, scale: Scale, index: number, of: number, count: number) {
  const wide = ((WIDTH - LEFT - RIGHT) / count) * 0.75;
  const zero = scale.y(Math.max(0, scale.ticks[0]!));
  return values.map((value, at) => {
    if (value === null) return nothing;
    const [x, y] = [scale.x(at) - wide / 2 + (wide / of) * index, scale.y(value)];
    return svg`<rect class="ink${index % 6}" x=${x} y=${Math.min(y, zero)} width=${Math.max(1, wide / of - 1)} height=${Math.abs(zero - y)} fill="currentColor" />`;
  });
}

function points({ values }: Series, scale: Scale, index: number) {
  return values.map((value, at) =>
    value === null
      ? nothing
      : svg`<circle class="ink${index % 6}" cx=${scale.x(at)} cy=${scale.y(value)} r="3.5" fill="currentColor" />`,
  );
}

const DRAW: Record<string, (one: Series, scale: Scale, index: number, of: number, count: number) => unknown> = {
  line,
  bar: bars,
  scatter: points,
};

function numbers(series: Series[], x: unknown[]) {
  return html`<div class="wide"
    ><table>
      <thead
        ><tr><th></th>${series.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead
      >
      <tbody
        >${x.slice(0, 200).map((label, index) => html`<tr><th scope="row">${text(label)}</th>${series.map(({ values }) => html`<td>${text(values[index])}</td>`)}</tr>`)}</tbody
      >
    </table></div
  >`;
}
