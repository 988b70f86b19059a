/** Values that open: what they hold is read when it comes into sight, so ten thousand of them cost what a screen does. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { shared } from "../app/shared";
import { t } from "../link";
import "../parts/rows";
import type { Page } from "./answers";

export interface Node {
  name: string;
  value: string;
  type: string;
  reference: number;
  isBad?: boolean;
  isChanged?: boolean;
}

interface Branch {
  items: (Node | undefined)[];
  /** Null where the debugger does not tell how many there are. */
  total: number | null;
  trouble: string;
  /** Of which stop: what an earlier one held is shown until it is read again, and leads nowhere. */
  round: number;
}

interface Seen {
  key: string;
  depth: number;
  parent: string;
  index: number;
  node?: Node;
  says?: string;
}

export type Load = (reference: number, start: number, count: number) => Promise<Page>;

const AT_ONCE = 100;
const HEIGHT = 24;
/** How debugpy calls what every value has. */
const GROUP = /^(special|function|class|protected|private) variables$/;
const JOINT = "\u0000";

@customElement("dragoman-values")
export class DragomanValues extends LitElement {
  @property({ attribute: false }) roots: Node[] = [];
  @property({ attribute: false }) load: Load = () => Promise.reject(new Error());
  @property() label = "";
  @property({ type: Boolean }) forgets = false;
  @property({ type: Boolean }) opensFirst = false;
  /** Whose values these are: only what belongs to the same is compared with what was there before. */
  @property() of = "";
  @state() private branches = new Map<string, Branch>();
  private readonly opened = new Set<string>();
  private readonly asked = new Set<string>();
  private round = 0;
  /** The row that Tab leads to; arrows lead on from there. */
  private cursor = "";
  private wasOpened = false;
  private comparesWith = "";
  private isNewPlace = true;

  protected override willUpdate(changed: Map<string, unknown>): void {
    if (!changed.has("roots")) return;
    this.round++;
    this.asked.clear();
    if (this.roots.length) [this.isNewPlace, this.comparesWith] = [this.of !== this.comparesWith, this.of];
    if (this.opensFirst && this.roots[0] && !this.wasOpened) {
      this.opened.add(keyOf("", this.roots[0].name, 0));
      this.wasOpened = true;
    }
    this.roots.forEach((node, index) => this.reopen(keyOf("", node.name, index), node));
  }

  /** What was open before a step is open after it, with what it holds now. */
  private reopen(key: string, node: Node): void {
    if (this.opened.has(key) && node.reference) void this.read(key, node, 0);
  }

  private async read(key: string, node: Node, start: number): Promise<void> {
    const mark = `${key}${JOINT}${start}`;
    if (this.asked.has(mark)) return;
    this.asked.add(mark);
    const round = this.round;
    const before = this.isNewPlace ? undefined : this.branches.get(key);
    try {
      const page = await this.load(node.reference, start, AT_ONCE);
      if (round === this.round) this.put(key, start, page, before);
    } catch (error) {
      if (round !== this.round) return;
      this.branches.set(key, { items: [], total: 0, trouble: (error as Error).message, round });
    }
    this.requestUpdate();
  }

  private put(key: string, start: number, page: Page, before: Branch | undefined): void {
    const fresh = page.variables.map((it, index): Node => {
      const old = before?.items[start + index];
      const isChanged = old !== undefined && old.name === it.name && old.value !== it.value;
      return { name: it.name, value: it.value, type: it.type ?? "", reference: it.variables_reference, isChanged };
    });
    const present = this.branches.get(key); // other pages may have come meanwhile
    const items = present?.round === this.round ? [...present.items] : [];
    fresh.forEach((node, index) => (items[start + index] = node));
    const isAll = page.total === null && page.variables.length < AT_ONCE;
    this.branches.set(key, { items, total: isAll ? items.length : page.total, trouble: "", round: this.round });
    fresh.forEach((node, index) => this.reopen(keyOf(key, node.name, start + index), node));
  }

  private seen(): Seen[] {
    const rows: Seen[] = [];
    const walk = (parent: string, items: (Node | undefined)[], count: number, depth: number) => {
      for (const index of inOrder(items, count)) {
        const node = items[index];
        const key = keyOf(parent, node?.name ?? "", index);
        rows.push({ key, depth, parent, index, node });
        if (node && this.opened.has(key)) within(key, depth + 1);
      }
    };
    const within = (key: string, depth: number) => {
      const branch = this.branches.get(key);
      const says = branch?.trouble || (branch?.total === 0 ? t("nothing") : "");
      if (says) rows.push({ key: `${key}${JOINT}`, depth, parent: key, index: 0, says });
      if (branch) walk(key, branch.items, branch.total ?? branch.items.length + 1, depth);
    };
    walk("", this.roots, this.roots.length, 0);
    return rows;
  }

  override render() {
    const rows = this.seen();
    if (!rows.some(({ key }) => key === this.cursor)) this.cursor = rows[0]?.key ?? "";
    return html`<dragoman-rows
      .rows=${rows} .height=${HEIGHT} .render_row=${(row: Seen) => this.row(row, rows)} aria-label=${this.label}
    ></dragoman-rows>`;
  }

  private row(row: Seen, rows: Seen[]) {
    const { node, key, depth } = row;
    const indent = `padding-left:${depth * 14 + 6}px`;
    if (row.says) return html`<div class="row quiet" .style=${indent}>${row.says}</div>`;
    if (!node) {
      this.fetch(row, rows);
      return html`<div class="row quiet" .style=${indent}>…</div>`;
    }
    const opens = node.reference > 0;
    return html`<div class="line"><button
      class="plain row" data-key=${key} tabindex=${key === this.cursor ? 0 : -1} @focus=${() => this.moved(key)} .style=${indent} aria-level=${depth + 1}
      aria-expanded=${opens ? this.opened.has(key) : nothing} title=${node.type ? `${node.name}: ${node.type}` : node.name}
      @click=${() => this.turn(row)} @keydown=${(event: KeyboardEvent) => this.keyed(event, row, rows)}
    ><span class="mark" aria-hidden="true">${opens ? (this.opened.has(key) ? "▾" : "▸") : ""}</span
      ><span class="name">${node.name}</span
      ><span class="value ${node.isBad ? "bad" : ""} ${node.isChanged ? "changed" : ""}">${node.value}</span></button>
      ${this.forgets && depth === 0 ? this.remover(node) : nothing}</div>`;
  }

  private remover(node: Node) {
    return html`<button
      class="plain forget" aria-label=${t("Stop watching {name}", { name: node.name })}
      @click=${() => this.dispatchEvent(new CustomEvent("forget", { detail: node.name }))}
    >×</button>`;
  }

  private fetch({ parent, index }: Seen, rows: Seen[]): void {
    if (this.branches.get(parent)?.round !== this.round) return;
    const holder = rows.find(({ key }) => key === parent)?.node;
    if (holder) void this.read(parent, holder, index - (index % AT_ONCE));
  }

  private turn({ key, parent, node }: Seen): void {
    if (!node?.reference) return;
    if (!this.opened.delete(key)) {
      this.opened.add(key);
      const isPresent = !parent || this.branches.get(parent)?.round === this.round;
      if (isPresent) void this.read(key, node, 0); // else it is opened by what is being read now
    }
    this.requestUpdate();
  }

  private keyed(event: KeyboardEvent, row: Seen, rows: Seen[]): void {
    const isOpen = this.opened.has(row.key);
    const index = rows.indexOf(row);
    if (event.key === "ArrowRight" && row.node && !isOpen) this.turn(row);
    else if (event.key === "ArrowLeft" && row.node && isOpen) this.turn(row);
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
    shared,
    css`
      :host { display: block; min-height: 0; }
      dragoman-rows { height: 100%; }
      .line { display: flex; }
      .row {
        display: flex; align-items: center; gap: .4rem; flex: 1; min-width: 0; height: 24px; padding: 0 .4rem; border: 0; border-radius: 0;
        font: .82rem/1.2 var(--mono); text-align: left; white-space: nowrap;
      }
      .row:hover { background: var(--raised); }
      .mark { width: .8em; flex: none; color: var(--quiet); }
      .name { flex: none; max-width: 55%; overflow: hidden; text-overflow: ellipsis; color: var(--accent); }
      .value { flex: 0 1 auto; min-width: 0; padding: 0 .2rem; border-radius: .2rem; overflow: hidden; text-overflow: ellipsis; }
      .changed { background: var(--marked); }
      .forget { padding: 0 .5rem; height: 24px; line-height: 1; color: var(--quiet); }
    `,
  ];
}

/** What a debugger puts before the items of a value, and few look for, stands after them. */
function inOrder(items: (Node | undefined)[], count: number): number[] {
  const first = items.findIndex((it) => !it || !it.reference || !GROUP.test(it.name));
  const groups = first < 0 ? items.length : first;
  return Array.from({ length: count }, (_, index) => (index + groups) % count);
}

/** By name and place: a list may hold the same name twice. */
function keyOf(parent: string, name: string, index: number): string {
  return `${parent}${JOINT}${index}:${name}`;
}
