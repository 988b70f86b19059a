/** The breakpoints of one line, or one of the list, as forms that open where they were asked for. */
import { LitElement, html, nothing } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { live } from "lit/directives/live.js";
import { sharedStyles } from "../app/styles";
import type { Breakpoint, ErrorNotice } from "../debugger/toolResults";
import { t } from "../link";
import type { SourceFile } from "../source/sourceFile";
import { isOwn, settingsOf, type BreakpointList, type BreakpointSettings } from "./breakpointList";
import { markClasses, markStyles, ownerName } from "./breakpointMarks";
import "./chinese";
import { formStyles } from "./formStyles";

/** What is edited: one breakpoint, or a line with all that are there. */
export type EditedBreakpoint = { at: DOMRect } & ({ id: number } | { text: SourceFile; line: number });

const WIDTH = 340;
const MARGIN = 8;
const LABELS: Record<keyof BreakpointSettings, string> = {
  condition: "Condition",
  hit_condition: "Hit count",
  log_message: "Log instead of stopping",
};
const EXAMPLES: Record<keyof BreakpointSettings, string> = {
  condition: "total > 10",
  hit_condition: "3,  > 5,  % 2 == 0",
  log_message: "total is {total}",
};

@customElement("dragoman-breakpoint-form")
export class DragomanBreakpointForm extends LitElement {
  @property({ attribute: false }) list!: BreakpointList;
  /** What the list holds: the form is drawn anew when somebody changes it. */
  @property({ attribute: false }) all: readonly Breakpoint[] = [];
  @property({ attribute: false }) edited: EditedBreakpoint | null = null;
  @property({ type: Boolean }) isLive = false;
  @state() private error: ErrorNotice | null = null;
  @query("#form") private box!: HTMLElement | null;
  private shown: EditedBreakpoint | null = null;
  private focusedBefore: HTMLElement | null = null;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener("pointerdown", this.pressedOutside, true);
  }

  protected override updated(): void {
    const { edited, box } = this;
    if (edited === this.shown) return;
    this.shown = edited;
    this.error = null;
    if (!edited || !box) return window.removeEventListener("pointerdown", this.pressedOutside, true);
    this.focusedBefore = focusedElement();
    window.addEventListener("pointerdown", this.pressedOutside, true);
    box.showPopover();
    place(box, edited.at);
    box.querySelector<HTMLElement>("input:not([type=checkbox]):not([readonly])")?.focus();
  }

  private readonly pressedOutside = (event: Event) => {
    if (!event.composedPath().includes(this)) this.close(false);
  };

  private close(isFocusKept = true): void {
    if (isFocusKept) this.focusedBefore?.focus({ preventScroll: true });
    this.edited = null;
    this.dispatchEvent(new CustomEvent("closed"));
  }

  override render() {
    const { edited } = this;
    if (!edited) return nothing;
    const here = this.breakpointsOf(edited);
    if (!here.length && "id" in edited) return nothing; // somebody removed it
    const title = this.titleOf(edited, here[0]);
    return html`<div
      id="form"
      popover="manual"
      role="dialog"
      aria-label=${t("Breakpoint: {name}", { name: title })}
      @keydown=${this.handleKey}
    >
      <header
        ><strong class="mono">${title}</strong
        ><button class="plain" aria-label=${t("Close")} @click=${() => this.close()}>×</button></header
      >
      ${(here.length ? here : [null]).map((it) => this.renderOne(edited, it))}
      ${this.error ? html`<p class="bad" role="alert">${this.error.message} ${this.error.hint}</p>` : nothing}
    </div>`;
  }

  private breakpointsOf(edited: EditedBreakpoint): Breakpoint[] {
    return "id" in edited ? this.all.filter(({ id }) => id === edited.id) : this.list.allAt(edited.text, edited.line);
  }

  private titleOf(edited: EditedBreakpoint, first: Breakpoint | undefined): string {
    return "line" in edited ? `${baseName(edited.text.path)}:${edited.line}` : breakpointName(first!);
  }

  /** One template for a line with and without one: what is being typed stays when somebody else sets it meanwhile. */
  private renderOne(edited: EditedBreakpoint, it: Breakpoint | null) {
    const names = settingsOf(it?.kind ?? "line");
    const isLocked = it !== null && !isOwn(it);
    return html`<form @submit=${(event: SubmitEvent) => this.submit(event, edited, it)}>
      ${it ? this.head(it) : nothing} ${this.fields(names, it ?? {}, isLocked)}
      ${isLocked && names.length ? html`<p class="quiet">${lockedText(it)}</p>` : nothing}
      <footer
        >${names.length ? html`<button class=${isLocked ? "" : "primary"}>${t(!it ? "Set a breakpoint" : isLocked ? "Make it mine" : "Save")}</button>` : nothing}
        ${it ? html`<button type="button" @click=${() => this.removeOne(it)}>${t("Remove")}</button>` : nothing}</footer
      >
    </form>`;
  }

  private head(it: Breakpoint) {
    const owner = ownerName(it);
    return html`<div class="head"
        ><span class=${markClasses(it, this.isLive)}></span
        ><span class="grow">${owner ? t("Set by {who}", { who: owner }) : ""}</span>
        <label class="switch"
          ><input
            type="checkbox"
            .checked=${live(this.list.isOn(it))}
            @change=${() => void this.list.turn(it.id, !this.list.isOn(it))}
          />${t("On")}</label
        ></div
      >
      ${it.message ? html`<p class="quiet">${it.message}</p>` : nothing}`;
  }

  private fields(names: readonly (keyof BreakpointSettings)[], values: Partial<BreakpointSettings>, isLocked: boolean) {
    return names.map(
      (name) =>
        html`<label
          >${t(LABELS[name])}
          <input
            class="mono"
            name=${name}
            placeholder=${isLocked ? "" : EXAMPLES[name]}
            ?readonly=${isLocked}
            .defaultValue=${values[name] ?? ""}
            spellcheck="false"
            autocomplete="off"
        /></label>`,
    );
  }

  private async submit(event: SubmitEvent, edited: EditedBreakpoint, it: Breakpoint | null): Promise<void> {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    const value = (name: string) => String(data.get(name) ?? "").trim();
    const settings = {
      condition: value("condition"),
      hit_condition: value("hit_condition"),
      log_message: value("log_message"),
    };
    this.error = await this.apply(settings, edited, it);
    if (!this.error) this.close();
  }

  private async apply(settings: BreakpointSettings, edited: EditedBreakpoint, it: Breakpoint | null) {
    if (it) return isOwn(it) ? this.list.change(it, settings) : this.list.takeOver(it, settings);
    return "line" in edited ? this.list.set(edited.text, edited.line, settings) : null;
  }

  private removeOne(it: Breakpoint): void {
    void this.list.remove(it.id);
    this.close();
  }

  private readonly handleKey = (event: KeyboardEvent) => {
    event.stopPropagation(); // keys that step the program are for another place
    if (event.key === "Escape") this.close();
  };

  static override styles = [sharedStyles, markStyles, formStyles];
}

function lockedText(it: Breakpoint): string {
  const who = ownerName(it) || t("its owner");
  return t(
    "Only {who} can change these conditions. You can turn the breakpoint off, remove it, or replace it with one of yours.",
    { who },
  );
}

export function breakpointName(it: Breakpoint): string {
  const path = it.source?.path ?? "";
  if (path) return `${baseName(path)}:${it.line}`;
  return it.function_name ?? it.exception ?? it.variable ?? it.kind;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Below what it belongs to, or above it where there is no room. */
function place(box: HTMLElement, at: DOMRect): void {
  const height = box.offsetHeight;
  const isBelow = at.bottom + height + MARGIN < innerHeight;
  const top = isBelow ? at.bottom + 2 : Math.max(MARGIN, at.top - height - 2);
  const left = Math.max(MARGIN, Math.min(at.left, innerWidth - Math.min(WIDTH, innerWidth) - MARGIN));
  Object.assign(box.style, { top: `${top}px`, left: `${left}px` });
}

function focusedElement(): HTMLElement | null {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element as HTMLElement | null;
}
