import { html } from "lit";
import "./rows";

/** Rows of one height in a box that grows to a bound and then scrolls; with `stays`, the newest row stays in sight. */
export function scrolled<T>(
  rows: readonly T[], height: number, most: number, draw: (row: T, index: number) => unknown, { stays = "" }: { stays?: "" | "end" } = {},
) {
  const tall = Math.min(rows.length * height, most);
  return html`<div class="scrolled" .style=${`height:${tall}px`}>
    <dragoman-rows .rows=${rows} .height=${height} .render_row=${draw} .stays=${stays}></dragoman-rows>
  </div>`;
}
