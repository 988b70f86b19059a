import { html, nothing } from "lit";
import "./rows";

/** Rows of one height in a box that grows to a bound and then scrolls; with `anchor`, the newest row stays in sight.
 * What is only read has a `label`: keys lead to it, and scroll it. */
export function scrollBox<T>(
  rows: readonly T[],
  height: number,
  most: number,
  draw: (row: T, index: number) => unknown,
  { anchor = "", label = "" }: { anchor?: "" | "end"; label?: string } = {},
) {
  const tall = Math.min(rows.length * height, most);
  return html`<div class="scrolled" .style=${`height:${tall}px`}>
    <dragoman-rows
      tabindex=${label && rows.length * height > most ? 0 : -1}
      aria-label=${label || nothing}
      .rows=${rows}
      .height=${height}
      .renderRow=${draw}
      .anchor=${anchor}
    ></dragoman-rows>
  </div>`;
}
