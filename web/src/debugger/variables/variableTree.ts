/**
 * Values that open: what they hold is read when it comes into sight, so ten thousand of them cost what a screen does.
 */
import { LitElement, html, nothing } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import { copyText } from "../../parts/clipboard";
import "../../parts/menu";
import type { DragomanMenu, MenuItem } from "../../parts/menu";
import "../../parts/rows";
import type { Page } from "../toolResults";
import { treeStyles } from "./treeStyles";

export interface VariableNode {
  name: string;
  value: string;
  type: string;
  reference: number;
  isBad?: boolean;
  isChanged?: boolean;
  /** What it held at the last stop, if that was something else. */
  was?: string;
  /** What evaluates to it, anywhere in the frame. */
  expression?: string;
  isCut?: boolean;
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
  stop: string;
}

interface VisibleRow {
  key: string;
  depth: number;
  parent: string;
  index: number;
  node?: VariableNode;
  placeholder?: string;
}

export type Load = (reference: number, start: number, count: number, filter: string) => Promise<Page>;
/** Sets what a container holds; without one, a variable of the frame. */
export type Assign = (container: number | null, name: string, value: string) => Promise<void>;
/** The value without an end, where only its beginning was read. */
export type ReadWhole = (container: number | null, node: VariableNode) => Promise<string>;

const AT_ONCE = 100;
const HEIGHT = 24;
/** A longer value has a button that shows all of it. */
const LONG = 60;
/** How debugpy calls what every value has. */
const GROUP = /^(special|function|class|protected|private) variables$/;
const JOINT = "\u0000";

@customElement("dragoman-values")
export class DragomanValues extends LitElement {
  @property({ attribute: false }) roots: VariableNode[] = [];
  @property({ attribute: false }) load: Load = () => Promise.reject(new Error());
  /** Without one, values cannot be edited. */
  @property({ attribute: false }) assign: Assign | null = null;
  @property({ attribute: false }) readWhole: ReadWhole = (_, { value }) => Promise.resolve(value);
  /** Only what the roots hold and is called so. */
  @property() filter = "";
  /** The stop of these values: what changed since the last one is marked until the next. */
  @property() stop = "";
  /** As high as what it shows, up to this many rows; 0: as high as its place. */
  @property({ type: Number }) rowsAtMost = 0;
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
  /** The row whose value is being edited. */
  @state() private editing = "";
  @state() private refused = "";
  @state() private whole: { name: string; value: string } | null = null;
  @query("dragoman-menu") private menu!: DragomanMenu;

  protected override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has("filter") && !changed.has("roots") && this.hasUpdated) this.readFiltered();
    if (!changed.has("roots")) return;
    this.whole = null;
    this.round++;
    this.requested.clear();
    if (this.roots.length)
      [this.isNewContext, this.comparedContext] = [this.context !== this.comparedContext, this.context];
    if (this.isNewContext || changed.has("stop")) this.refused = ""; // values that are only read again leave it
    if (this.expandsFirst && this.roots[0] && !this.wasExpanded) {
      this.expanded.add(nodeKey("", this.roots[0].name, 0));
      this.wasExpanded = true;
    }
    this.roots.forEach((node, index) => this.reopen(nodeKey("", node.name, index), node));
  }

  /** Another filter shows other members: what was read with the last one is read again. */
  private readFiltered(): void {
    this.round++;
    this.requested.clear();
    this.roots.forEach((node, index) => {
      const key = nodeKey("", node.name, index);
      if (this.filter && node.reference && this.expandsFirst && index === 0) this.expanded.add(key);
      this.reopen(key, node);
    });
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
      const isRoot = this.roots.includes(node);
      const page = await this.load(node.reference, start, AT_ONCE, isRoot ? this.filter : "");
      if (round === this.round) this.setItems(key, start, page, before);
    } catch (error) {
      if (round !== this.round) return;
      this.branches.set(key, { items: [], total: 0, error: (error as Error).message, round, stop: this.stop });
    }
    this.requestUpdate();
  }

  private setItems(key: string, start: number, page: Page, before: Branch | undefined): void {
    const known = new Map(before?.items.filter((it) => it !== undefined).map((it) => [it.name, it]));
    const fresh = page.variables.map((it): VariableNode => {
      const old = known.get(it.name);
      const isChanged = old !== undefined && old.value !== it.value;
      const was = isChanged ? old.value : before?.stop === this.stop ? old?.was : undefined;
      return {
        name: it.name,
        value: it.value,
        type: it.type ?? "",
        reference: it.variables_reference,
        isChanged: was !== undefined,
        was,
        expression: it.evaluate_name,
        isCut: it.truncated,
      };
    });
    const present = this.branches.get(key); // other pages may have come meanwhile
    const items = present?.round === this.round ? [...present.items] : [];
    fresh.forEach((node, index) => (items[start + index] = node));
    const isAll = page.total === null && page.variables.length < AT_ONCE;
    this.branches.set(key, {
      items,
      total: isAll ? items.length : page.total,
      error: "",
      round: this.round,
      stop: this.stop,
    });
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
      const isFiltered = this.filter !== "" && depth === 1;
      const placeholder = branch?.error || (branch?.total === 0 ? t(isFiltered ? "No matches." : "nothing") : "");
      if (placeholder) rows.push({ key: `${key}${JOINT}`, depth, parent: key, index: 0, placeholder });
      if (branch) walk(key, branch.items, branch.total ?? branch.items.length + 1, depth);
    };
    walk("", this.roots, this.roots.length, 0);
    return rows;
  }

  override render() {
    const rows = this.visibleRows();
    if (!rows.some(({ key }) => key === this.cursor)) this.cursor = rows[0]?.key ?? "";
    const height = this.rowsAtMost ? `height:${Math.min(rows.length, this.rowsAtMost) * HEIGHT}px;flex:none` : "";
    return html`<dragoman-rows
        .rows=${rows}
        .height=${HEIGHT}
        .renderRow=${(row: VisibleRow) => this.row(row, rows)}
        .style=${`${height};display:block;overflow-y:auto;position:relative`}
        aria-label=${this.label}
      ></dragoman-rows
      >${this.refused ? html`<p class="refused" role="alert">${this.refused}</p>` : nothing}${this.wholeValue()}
      <dragoman-menu></dragoman-menu>`;
  }

  private wholeValue() {
    if (!this.whole) return nothing;
    const { name, value } = this.whole;
    return html`<section class="reading" aria-label=${t("The whole value of {name}", { name })}
      ><header
        ><span>${name}</span
        ><button class="plain" aria-label=${t("Close")} @click=${() => (this.whole = null)}>×</button></header
      ><pre tabindex="0">${value}</pre>
    </section>`;
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
    if (key === this.editing) return this.editor(row);
    const isLong = node.isCut || node.value.length > LONG;
    return html`<div class="line" @contextmenu=${(event: MouseEvent) => this.openMenu(event, row)}
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
        @dblclick=${() => this.edit(row)}
        @keydown=${(event: KeyboardEvent) => this.handleKey(event, row, rows)}
        ><span class="mark" aria-hidden="true">${opens ? (this.expanded.has(key) ? "▾" : "▸") : ""}</span
        ><span class="name">${node.name}</span
        ><span class="value ${node.isBad ? "bad" : ""} ${node.isChanged ? "changed" : ""}">${node.value}</span
        >${node.was === undefined ? nothing : html`<span class="was">${t("was {value}", { value: node.was })}</span>`}</button
      >
      ${isLong ? this.wholeButton(row) : nothing} ${this.removable && depth === 0 ? this.remover(node) : nothing}</div
    >`;
  }

  private wholeButton(row: VisibleRow) {
    return html`<button
      class="plain whole"
      tabindex="-1"
      title=${t("Show the whole value")}
      aria-label=${t("Show the whole value")}
      @click=${() => void this.showWhole(row)}
      >⤢</button
    >`;
  }

  private editor({ node, key, depth }: VisibleRow) {
    return html`<form
      class="editing"
      .style=${`padding-left:${depth * 14 + 6}px`}
      @submit=${(event: SubmitEvent) => (event.preventDefault(), void this.submit(event))}
      ><span class="mark"></span><span class="name">${node!.name}</span
      ><input
        class="edit"
        data-edit=${key}
        aria-label=${t("New value of {name}", { name: node!.name })}
        .value=${node!.value}
        spellcheck="false"
        autocomplete="off"
        @keydown=${(event: KeyboardEvent) => event.key === "Escape" && this.endEditing(key)}
        @blur=${() => (this.editing = "")}
    /></form>`;
  }

  private edit(row: VisibleRow): void {
    if (!this.canEdit(row)) return;
    this.editing = row.key;
    this.refused = "";
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLInputElement>(".edit")?.select());
  }

  /** Scopes have no value, and a past stop is over. */
  private canEdit({ node, parent }: VisibleRow): boolean {
    return this.assign !== null && node !== undefined && (parent !== "" || this.removable) && !node.isBad;
  }

  private async submit(event: SubmitEvent): Promise<void> {
    const field = (event.target as HTMLFormElement).querySelector("input")!;
    const key = this.editing;
    const row = this.visibleRows().find((it) => it.key === key);
    if (!row?.node) return;
    try {
      await this.assign!(this.container(row), row.node.name, field.value);
      this.refused = "";
    } catch (error) {
      this.refused = (error as Error).message;
    }
    this.endEditing(key);
  }

  private endEditing(key: string): void {
    this.editing = "";
    void this.updateComplete.then(() => this.focusOn(key));
  }

  /** The reference of what holds a row; null for one that stands by itself. */
  private container({ parent }: VisibleRow): number | null {
    return this.visibleRows().find(({ key }) => key === parent)?.node?.reference ?? null;
  }

  private async showWhole(row: VisibleRow): Promise<void> {
    const node = row.node!;
    const value = node.isCut ? await this.readWhole(this.container(row), node).catch(() => node.value) : node.value;
    this.whole = { name: node.name, value };
  }

  private menuItems(row: VisibleRow): MenuItem[] {
    const node = row.node!;
    const expression = row.parent === "" && this.removable ? node.name : node.expression;
    const items: (MenuItem | false)[] = [
      this.canEdit(row) && { title: t("Edit the value"), key: "F2", act: () => this.edit(row) },
      node.value !== "" && { title: t("Copy the value"), key: "Ctrl+C", act: () => void this.copy(row) },
      expression !== undefined && {
        title: t("Copy as an expression"),
        act: () => void copyText(expression),
      },
      expression !== undefined &&
        !this.removable && {
          title: t("Add to watch"),
          act: () => this.dispatchEvent(new CustomEvent("watch-expression", { detail: expression })),
        },
      node.value.length > LONG && { title: t("Show the whole value"), act: () => void this.showWhole(row) },
    ];
    return items.filter((it) => it !== false);
  }

  private async copy(row: VisibleRow): Promise<void> {
    const node = row.node!;
    const value = node.isCut ? await this.readWhole(this.container(row), node).catch(() => node.value) : node.value;
    await copyText(value);
  }

  private openMenu(event: MouseEvent | KeyboardEvent, row: VisibleRow): void {
    const items = row.node ? this.menuItems(row) : [];
    if (!items.length) return;
    event.preventDefault();
    const opener = (event.currentTarget as HTMLElement).closest(".line")!.querySelector<HTMLElement>(".row")!;
    const { left, bottom } = opener.getBoundingClientRect();
    const isAtPointer = event instanceof MouseEvent && event.clientX > 0;
    void this.menu.open(
      items,
      isAtPointer ? { x: event.clientX, y: event.clientY } : { x: left + 24, y: bottom },
      opener,
    );
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
    const isMenuKey = event.key === "ContextMenu" || (event.shiftKey && event.key === "F10");
    if (isMenuKey) return this.openMenu(event, row);
    if (event.key === "F2" || (event.key === "Enter" && !row.node?.reference)) this.edit(row);
    else if ((event.ctrlKey || event.metaKey) && event.key === "c" && row.node) void this.copy(row);
    else if (event.key === "ArrowRight" && row.node && !isOpen) this.toggle(row);
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

  static override styles = [sharedStyles, treeStyles];
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
