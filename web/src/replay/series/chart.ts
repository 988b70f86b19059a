/** A curve of numbers, or marks where something else changed: small in a list, and large to look at and to click. */
import { html, nothing, svg } from "lit";
import { chartPoints, numberOf, type Series } from "./valueSeries";

const SMALL = { width: 120, height: 18 };
const LARGE = { width: 600, height: 110 };
const MARGIN = 4;
/** Curves of more points are thinned out. */
const MOST_SMALL = 120;
const MOST_LARGE = 600;

/** With what it shows in its label, for those who do not see it. */
export function sparkline(series: Series) {
  const { width, height } = SMALL;
  return html`<svg class="spark" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">
    ${series.isNumeric && series.points.length > 1 ? curve(series, width, height, MOST_SMALL) : marks(series, width, height)}
  </svg>`;
}

export function chart(series: Series, shown: number, label: string, choose: (index: number) => void) {
  const { width, height } = LARGE;
  const last = Math.max(1, series.points.length - 1);
  const x = (index: number) => MARGIN + (index / last) * (width - 2 * MARGIN);
  const handle = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const at = (((event.clientX - box.left) / box.width) * width - MARGIN) / (width - 2 * MARGIN);
    choose(Math.min(last, Math.max(0, Math.round(at * last))));
  };
  return html`<div class="chart"
    ><svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label=${label} @click=${handle}>
      ${series.isNumeric ? curve(series, width, height, MOST_LARGE) : marks(series, width, height)}
      ${
        shown >= 0
          ? svg`<line class="shown" x1=${x(shown)} x2=${x(shown)} y1="0" y2=${height} vector-effect="non-scaling-stroke" />`
          : nothing
      }</svg
    >${series.isNumeric ? scaleOf(series) : nothing}</div
  >`;
}

function scaleOf({ points }: Series) {
  const values = points.map(numberOf);
  const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  return html`<span class="high">${high}</span><span class="low">${low === high ? "" : low}</span>`;
}

/** A value holds until the next one: steps, not slopes. */
function curve(series: Series, width: number, height: number, most: number) {
  let path = "";
  for (const { x, y } of chartPoints(series, most)) {
    const [left, top] = [MARGIN + x * (width - 2 * MARGIN), height - MARGIN - y * (height - 2 * MARGIN)];
    path += path ? `H${left.toFixed(1)}V${top.toFixed(1)}` : `M${left.toFixed(1)} ${top.toFixed(1)}`;
  }
  return svg`<path class="curve" d=${path} vector-effect="non-scaling-stroke" />`;
}

/** A block for each time that one value held, alternating, at most as many as can be told apart. */
function marks({ points }: Series, width: number, height: number) {
  const last = Math.max(1, points.length);
  let [d, from, isOdd] = ["", 0, false];
  for (let index = 1; index <= points.length; index++) {
    if (index < points.length && points[index]!.value === points[index - 1]!.value) continue;
    const [a, b] = [(from / last) * width, (index / last) * width];
    if (isOdd && b - a > 0.4) d += `M${a.toFixed(1)} 3H${b.toFixed(1)}V${height - 3}H${a.toFixed(1)}Z`;
    [from, isOdd] = [index, !isOdd];
  }
  return svg`<path class="base" d="M0 ${height / 2}H${width}" vector-effect="non-scaling-stroke" /><path class="blocks" d=${d} />`;
}
