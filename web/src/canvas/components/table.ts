/** Rows that can be sorted and filtered. */
import { html, nothing } from "lit";
import { t } from "../../link";
import { scrollBox } from "../../parts/scrollBox";
import { define, type Painter } from "../model";
import { records, textProperty, text } from "../values";

type Row = Record<string, unknown>;
interface Memory {
  words: string;
  key: string;
  down: boolean;
}

const HEIGHT = 30;

define(
  "Table",
  (node, painter) => {
    const memory = painter.memory<Memory>(node, { words: "", key: "", down: false });
    const columns = records(node.properties.columns).map((column) => ({
      key: text(column.key),
      title: text(column.title) || text(column.key),
      align: text(column.align),
    }));
    const act = (row: Row, index: number) => void painter.act(node, { index, row });
    const rows = sortedAndFiltered(records(painter.value(node, "rows")), memory);
    const grid = `grid-template-columns:repeat(${Math.max(1, columns.length)},minmax(5rem,1fr))`;
    const caption = textProperty(painter, node, "caption");
    return html`<div class="table">
      ${caption ? html`<div class="title">${caption}</div>` : nothing}
      ${node.properties.filterable === false ? nothing : filter(memory, painter)}
      <div class="wide"
        ><div role="table" aria-label=${caption || t("Table")} aria-rowcount=${rows.length}>
          <div class="cells head" role="row" .style=${grid}>
            ${columns.map(
              ({ key, title, align }) =>
                html`<button
                  class="plain ${align}"
                  role="columnheader"
                  aria-sort=${memory.key === key ? (memory.down ? "descending" : "ascending") : "none"}
                  @click=${() => sort(memory, key, painter)}
                  >${title}${memory.key === key ? (memory.down ? " ↓" : " ↑") : ""}</button
                >`,
            )}
          </div>
          ${scrollBox(
            rows,
            HEIGHT,
            420,
            ([row, index]) =>
              html`<div
                class="cells"
                role="row"
                tabindex="0"
                .style=${grid}
                @click=${() => act(row, index)}
                @keydown=${(event: KeyboardEvent) => event.key === "Enter" && act(row, index)}
                >${columns.map(({ key, align }) => html`<span role="cell" class=${align} title=${text(row[key])}>${text(row[key])}</span>`)}</div
              >`,
          )}
        </div></div
      >
    </div>`;
  },
  { fills: true },
);

function filter(memory: Memory, painter: Painter) {
  return html`<input
    type="search"
    aria-label=${t("Filter rows")}
    placeholder=${t("Filter rows")}
    .value=${memory.words}
    @input=${(event: InputEvent) => {
      memory.words = (event.target as HTMLInputElement).value;
      painter.redraw();
    }}
  />`;
}

function sort(memory: Memory, key: string, painter: Painter): void {
  memory.down = memory.key === key && !memory.down;
  memory.key = key;
  painter.redraw();
}

function sortedAndFiltered(rows: Row[], { words, key, down }: Memory): [Row, number][] {
  const wanted = words.toLowerCase();
  const numbered = rows.map((row, index): [Row, number] => [row, index]);
  const found = wanted
    ? numbered.filter(([row]) => Object.values(row).some((cell) => text(cell).toLowerCase().includes(wanted)))
    : numbered;
  if (!key) return found;
  return found.sort(([a], [b]) => (down ? -1 : 1) * compareCells(a[key], b[key]));
}

function compareCells(a: unknown, b: unknown): number {
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : text(a).localeCompare(text(b), undefined, { numeric: true });
}
