/**
 * Values that open: what they hold is read when it comes into sight, so ten thousand of them cost what a screen does.
 */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { t } from "../link";
import "../parts/rows";
import type { Page } from "./toolResults";

export interface VariableNode {
  name: string;
  value: string;
  type: string;
  reference: number;
  isBad?: boolean;
  isChanged?: boolean;
}

interface Branch {
  items: (VariableNode | undefined)[];
  /** Null if the debugger does not report how many there are. */
  total: number | null;
  error: string;
  /**
   * The stop of the shown values: values of an earlier stop are shown until they are read again, and cannot be opened.
   */
  round: number;
}

interface VisibleRow {
  key: string;
  depth: number;
  parent: string;
  index: number;
  node?: VariableNode;
  placeholder?: string;
}

export type Load = (reference: number, start: number, count: number) => Promise<Page>;

const AT_ONCE = 100;
const HEIGHT = 24;
/** How debugpy calls what every value has. */
const GROUP = /^(special|function|class|protected|private) variables$/;
const JOINT = "\u0000";

@customElement("dragoman-values")
export class DragomanValues extends LitElement {
  @property({ attribute: false }) roots: VariableNode[] = [];
  @property({ attribute: false }) load: Load = () => Promise.reject(new Error());
  @property() label = "";
  @property({ type: Boolean }) removable = false;
  @property({ type: Boolean }) expandsFirst = false;
  /** The owner of these values: only values of the same owner are compared with earlier ones. */
  @property() context = "";
  @state() private branches = new Map<string, Branch>();
  private readonly expanded = new Set<string>();
  private readonly requested = new Set<string>();
  private round = 0;
  /** The row that Tab leads to; arrows lead on from there. */
  private cursor = "";
  private wasExpanded = false;
  private comparedContext = "";
  private isNewContext = true;

  protected override willUpdate(changed: Map<string, unknown>): void {
    if (!changed.has("roots")) return;
    this.round++;
    this.requested.clear();
    if (this.roots.length)
      [this.isNewContext, this.comparedContext] = [this.context !== this.comparedContext, this.context];
    if (this.expandsFirst && this.roots[0] && !this.wasExpanded) {
      this.expanded.add(nodeKey("", this.roots[0].name, 0));
      this.wasExpanded = true;
    }
    this.roots.forEach((node, index) => this.reopen(nodeKey("", node.name, index), node));
  }

  /** Rows that were open before a step are open after it, with current values. */
  private reopen(key: string, node: VariableNode): void {
    if (this.expanded.has(key) && node.reference) void this.read(key, node, 0);
  }

  private async read(key: string, node: VariableNode, start: number): Promise<void> {
    const mark = `${key}${JOINT}${start}`;
    if (this.requested.has(mark)) return;
    this.requested.add(mark);
    const round = this.round;
    const before = this.isNewContext ? undefined : this.branches.get(key);
    try {
      const page = await this.load(node.reference, start, AT_ONCE);
      if (round === this.round) this.setItems(key, start, page, before);
    } catch (error) {
      if (round !== this.round) return;
      this.branches.set(key, { items: [], total: 0, error: (error as Error).message, round });
    }
    this.requestUpdate();
  }

  private setItems(key: string, start: number, page: Page, before: Branch | undefined): void {
    const fresh = page.variables.map((it, index): VariableNode => {
      const old = before?.items[start + index];
      const isChanged = old !== undefined && old.name === it.name && old.value !== it.value;
      return { name: it.name, value: it.value, type: it.type ?? "", reference: it.variables_reference, isChanged };
    });
    const present = this.branches.get(key); // other pages may have come meanwhile
    const items = present?.round === this.round ? [...present.items] : [];
    fresh.forEach((node, index) => (items[start + index] = node));
    const isAll = page.total === null && page.variables.length < AT_ONCE;
    this.branches.set(key, { items, total: isAll ? items.length : page.total, error: "", round: this.round });
    fresh.forEach((node, index) => this.reopen(nodeKey(key, node.name, start + index), node));
  }

  private visibleRows(): VisibleRow[] {
    const rows: VisibleRow[] = [];
    const walk = (parent: string, items: (VariableNode | undefined)[], count: number, depth: number) => {
      for (const index of displayOrder(items, count)) {
        const node = items[index];
        const key = nodeKey(parent, node?.name ?? "", index);
        rows.push({ key, depth, parent, index, node });
        if (node && this.expanded.has(key)) within(key, depth + 1);
      }
    };
    const within = (key: string, depth: number) => {
      const branch = this.branches.get(key);
      const placeholder = branch?.error || (branch?.total === 0 ? t("nothing") : "");
      if (placeholder) rows.push({ key: `${key}${JOINT}`, depth, parent: key, index: 0, placeholder });
      if (branch) walk(key, branch.items, branch.total ?? branch.items.length + 1, depth);
    };
    walk("", this.roots, this.roots.length, 0);
    return rows;
  }

  override render() {
    const rows = this.visibleRows();
    if (!rows.some(({ key }) => key === this.cursor)) this.cursor = rows[0]?.key ?? "";
    return html`<dragoman-rows
      .rows=${rows}
      .height=${HEIGHT}
      .renderRow=${(row: VisibleRow) => this.row(row, rows)}
      aria-label=${this.label}
    ></dragoman-rows>`;
  }

  private row(row: VisibleRow, rows: VisibleRow[]) {
    const { node, key, depth } = row;
    const indent = `padding-left:${depth * 14 + 6}px`;
    if (row.placeholder) return html`<div class="row quiet" .style=${indent}>${row.placeholder}</div>`;
    if (!node) {
      this.fetch(row, rows);
      return html`<div class="row quiet" .style=${indent}>…</div>`;
    }
    const opens = node.reference > 0;
    return html`<div class="line"
      ><button
        class="plain row"
        data-key=${key}
        tabindex=${key === this.cursor ? 0 : -1}
        @focus=${() => this.moved(key)}
        .style=${indent}
        aria-level=${depth + 1}
        aria-expanded=${opens ? this.expanded.has(key) : nothing}
        title=${node.type ? `${node.name}: ${node.type}` : node.name}
        @click=${() => this.toggle(row)}
        @keydown=${(event: KeyboardEvent) => this.handleKey(event, row, rows)}
        ><span class="mark" aria-hidden="true">${opens ? (this.expanded.has(key) ? "▾" : "▸") : ""}</span
        ><span class="name">${node.name}</span
        ><span class="value ${node.isBad ? "bad" : ""} ${node.isChanged ? "changed" : ""}">${node.value}</span></button
      >
      ${this.removable && depth === 0 ? this.remover(node) : nothing}</div
    >`;
  }

  private remover(node: VariableNode) {
    return html`<button
      class="plain forget"
      aria-label=${t("Stop watching {name}", { name: node.name })}
      @click=${() => this.dispatchEvent(new CustomEvent("forget", { detail: node.name }))}
      >×</button
    >`;
  }

  private fetch({ parent, index }: VisibleRow, rows: VisibleRow[]): void {
    if (this.branches.get(parent)?.round !== this.round) return;
    const holder = rows.find(({ key }) => key === parent)?.node;
    if (holder) void this.read(parent, holder, index - (index % AT_ONCE));
  }

  private toggle({ key, parent, node }: VisibleRow): void {
    if (!node?.reference) return;
    if (!this.expanded.delete(key)) {
      this.expanded.add(key);
      const isPresent = !parent || this.branches.get(parent)?.round === this.round;
      if (isPresent) void this.read(key, node, 0); // else it is opened by what is being read now
    }
    this.requestUpdate();
  }

  private handleKey(event: KeyboardEvent, row: VisibleRow, rows: VisibleRow[]): void {
    const isOpen = this.expanded.has(row.key);
    const index = rows.indexOf(row);
    if (event.key === "ArrowRight" && row.node && !isOpen) this.toggle(row);
    else if (event.key === "ArrowLeft" && row.node && isOpen) this.toggle(row);
    else if (event.key === "ArrowLeft") this.focusOn(row.parent);
    else if (event.key === "ArrowDown") this.focusOn(rows.slice(index + 1).find(({ node }) => node)?.key);
    else if (event.key === "ArrowUp") this.focusOn(rows.slice(0, index).findLast(({ node }) => node)?.key);
    else return;
    event.preventDefault();
  }

  private moved(key: string): void {
    if (key === this.cursor) return;
    this.cursor = key;
    this.requestUpdate();
  }

  private focusOn(key: string | undefined): void {
    const all = this.renderRoot.querySelectorAll<HTMLElement>("[data-key]");
    [...all].find((it) => it.dataset["key"] === key)?.focus();
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: block;
        min-height: 0;
      }
      dragoman-rows {
        height: 100%;
      }
      .line {
        display: flex;
      }
      .row {
        display: flex;
        align-items: center;
        gap: 0.4rem;
        flex: 1;
        min-width: 0;
        height: 24px;
        padding: 0 0.4rem;
        border: 0;
        border-radius: 0;
        font: 0.82rem/1.2 var(--mono);
        text-align: left;
        white-space: nowrap;
      }
      .row:hover {
        background: var(--raised);
      }
      .mark {
        width: 0.8em;
        flex: none;
        color: var(--quiet);
      }
      .name {
        flex: none;
        max-width: 55%;
        overflow: hidden;
        text-overflow: ellipsis;
        color: var(--accent);
      }
      .value {
        flex: 0 1 auto;
        min-width: 0;
        padding: 0 0.2rem;
        border-radius: 0.2rem;
        overflow: hidden;
        text-overflow: ellipsis;
      }
      .changed {
        background: var(--marked);
      }
      .forget {
        padding: 0 0.5rem;
        height: 24px;
        line-height: 1;
        color: var(--quiet);
      }
    `,
  ];
}

/** Entries that a debugger lists before the items of a value, and that few need, are moved after them. */
function displayOrder(items: (VariableNode | undefined)[], count: number): number[] {
  const first = items.findIndex((it) => !it || !it.reference || !GROUP.test(it.name));
  const groups = first < 0 ? items.length : first;
  return Array.from({ length: count }, (_, index) => (index + groups) % count);
}

/** By name and place: a list may hold the same name twice. */
function nodeKey(parent: string, name: string, index: number): string {
  return `${parent}${JOINT}${index}:${name}`;
}
