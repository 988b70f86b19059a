/** The breakpoints of the folder: lines, functions, exceptions and data in one list, each with who set it. */
import { LitElement, html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { live } from "lit/directives/live.js";
import { sharedStyles } from "../app/styles";
import type { Breakpoint, ErrorNotice } from "../debugger/toolResults";
import { t } from "../link";
import { breakpointName, type EditedBreakpoint } from "./breakpointForm";
import "./breakpointForm";
import { isOwn, type BreakpointList } from "./breakpointList";
import { breakpointTitle, conditionText, markClasses, markStyles, ownerName } from "./breakpointMarks";
import "./chinese";
import { listStyles } from "./listStyles";

const EXCEPTIONS = [
  ["uncaught", "Uncaught exceptions"],
  ["raised", "Raised exceptions"],
] as const;

const KINDS: Record<string, string> = {
  function: "function",
  exception: "exception",
  data: "data",
};

@customElement("dragoman-breakpoints")
export class DragomanBreakpoints extends LitElement {
  @property({ attribute: false }) list!: BreakpointList;
  @property({ type: Boolean }) isLive = false;
  @state() private isAdding = false;
  @state() private error: ErrorNotice | null = null;
  @state() private edited: EditedBreakpoint | null = null;

  override render() {
    const switched = new Set(EXCEPTIONS.flatMap(([kind]) => this.list.plainExceptions(kind)));
    const rows = this.list.all.filter((it) => !switched.has(it));
    return html`${
        rows.length
          ? html`<ul id="breakpoints"
              >${rows.map((it) => this.row(it))}</ul
            >`
          : html`<p class="none">${t("Click beside a line number to set one.")}</p>`
      }
      <div class="exceptions">${EXCEPTIONS.map(([kind, words]) => this.exceptions(kind, words))}</div>
      <div class="tools">
        <button class="plain" aria-expanded=${this.isAdding} @click=${() => (this.isAdding = !this.isAdding)}
          >${t("Add…")}</button
        >
        <button
          class="plain"
          id="remove-all"
          ?disabled=${!this.list.all.length}
          @click=${() => void this.list.removeAll()}
          >${t("Remove all")}</button
        >
      </div>
      ${this.isAdding ? this.adding() : nothing}
      <dragoman-breakpoint-form
        .list=${this.list}
        .all=${this.list.all}
        .edited=${this.edited}
        .isLive=${this.isLive}
        @closed=${() => (this.edited = null)}
      ></dragoman-breakpoint-form>`;
  }

  private exceptions(kind: "uncaught" | "raised", words: string) {
    const isOn = this.list.stopsAt(kind);
    return html`<label
      ><input
        type="checkbox"
        .checked=${live(isOn)}
        @change=${() => void this.list.stopAt(kind, !isOn)}
      />${t(words)}</label
    >`;
  }

  private row(it: Breakpoint) {
    const path = it.source?.path ?? "";
    const name = breakpointName(it);
    const owner = isOwn(it) ? "" : ownerName(it);
    const more = [conditionText(it), owner].filter(Boolean).join(" · ");
    return html`<li>
      <input
        type="checkbox"
        .checked=${live(this.list.isOn(it))}
        aria-label=${t("{name} is on", { name })}
        @change=${() => void this.list.turn(it.id, !this.list.isOn(it))}
      />
      <button
        class="plain item"
        title="${path ? `${path}\n` : ""}${breakpointTitle(it, this.isLive)}"
        @click=${(event: Event) => this.open(event, it)}
      >
        <span class=${markClasses(it, this.isLive)}></span
        ><span class="grow"
          ><span class="name"><span class="mono">${name}</span>${this.kind(it)}</span
          >${more ? html`<span class="more">${more}</span>` : nothing}</span
        >
      </button>
      <button
        class="plain small"
        aria-label=${t("Edit the breakpoint {name}", { name })}
        title=${t("Edit the breakpoint {name}", { name })}
        @click=${(event: Event) => this.edit(event, it)}
        >✎</button
      >
      <button
        class="plain small"
        aria-label=${t("Remove the breakpoint {name}", { name })}
        title=${t("Remove the breakpoint {name}", { name })}
        @click=${() => void this.list.remove(it.id)}
        >×</button
      >
    </li>`;
  }

  private kind({ kind }: Breakpoint) {
    return KINDS[kind] ? html` <span class="quiet">${t(KINDS[kind])}</span>` : nothing;
  }

  /** To its line; what has none, to its form. */
  private open(event: Event, it: Breakpoint): void {
    const path = it.source?.path;
    if (!path) return this.edit(event, it);
    this.dispatchEvent(new CustomEvent("open-source", { detail: { path, line: it.line ?? 0 } }));
  }

  private edit(event: Event, { id }: Breakpoint): void {
    const at = (event.currentTarget as HTMLElement).closest("li")!.getBoundingClientRect();
    this.edited = { id, at };
  }

  private adding() {
    return html`<form @submit=${this.add}>
      <label
        ><span class="unseen">${t("Stop at")}</span>
        <select name="kind">
          <option value="function">${t("Function")}</option>
          <option value="exception">${t("Exception type")}</option>
        </select></label
      >
      <label class="grow"
        ><span class="unseen">${t("Name")}</span>
        <input name="name" class="mono" required placeholder=${t("its name")} spellcheck="false" autocomplete="off"
      /></label>
      <button>${t("Add")}</button>
      ${this.error ? html`<p class="bad" role="alert">${this.error.message} ${this.error.hint}</p>` : nothing}
    </form>`;
  }

  private readonly add = async (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    const name = String(data.get("name")).trim();
    this.error = await this.list.add(
      data.get("kind") === "function"
        ? { kind: "function", function_name: name }
        : { kind: "exception", exception: "raised", condition: name },
    );
    if (!this.error) this.isAdding = false;
  };

  static override styles = [sharedStyles, markStyles, listStyles];
}
