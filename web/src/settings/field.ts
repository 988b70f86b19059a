/** One setting: what it is for, what it is, and what was wrong with what was written into it. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { shared } from "../app/shared";
import { spoken } from "../app/spoken";
import { t } from "../link";
import "./chinese";
import type { Setting } from "./desk";

@customElement("dragoman-setting")
export class DragomanSetting extends LitElement {
  @property({ attribute: false }) setting!: Setting;
  @property({ attribute: false }) change!: (key: string, value: string) => Promise<string>;
  @state() private written: string | null = null;
  @state() private wrong = "";
  @state() private isSaving = false;
  @state() private isSaved = false;

  private get text(): string {
    const { value } = this.setting;
    return Array.isArray(value) ? value.join(", ") : String(value ?? "");
  }

  private async save(value: string): Promise<void> {
    this.isSaving = true;
    this.wrong = await this.change(this.setting.key, value);
    this.isSaving = false;
    this.isSaved = !this.wrong;
    if (!this.wrong && this.written === value) this.written = null; // unless it was changed meanwhile
    if (this.wrong) this.syncControl();
  }

  /** A switch or a choice that was not taken shows again what holds. */
  private syncControl(): void {
    const control = this.renderRoot.querySelector<HTMLInputElement | HTMLSelectElement>("input[type=checkbox], select");
    if (control instanceof HTMLInputElement) control.checked = this.setting.value === true;
    else if (control) control.value = String(this.setting.value);
  }

  private readonly typed = (event: InputEvent): void => {
    const { value } = event.target as HTMLInputElement;
    this.written = value === this.text ? null : value;
    this.wrong = "";
    this.isSaved = false;
  };

  override render() {
    const { key, about, may_change, variable, waits_for_restart, needs_restart, from_page } = this.setting;
    return html`<form @submit=${(event: Event) => { event.preventDefault(); if (this.written !== null) void this.save(this.written); }}>
      <label for="value">${spoken(about)} <code class="key">${key}</code></label>
      <div class="line">
        ${may_change ? this.editor() : html`<output id="value" class="mono">${this.text || t("not set")}</output>`}
        ${this.written === null ? nothing : html`<button class="primary" ?disabled=${this.isSaving}>${t("Save")}</button>`}
        ${this.isSaved ? html`<span class="good" role="status">${t("Saved.")}</span>` : nothing}
      </div>
      <div id="notes" class="notes">
        ${this.wrong ? html`<p class="bad" role="alert">${spoken(this.wrong)}</p>` : nothing}
        ${may_change ? nothing : html`<p class="quiet">${spoken(t("Changed by `{command}`.", { command: `dragoman config set ${key} …` }))}</p>`}
        ${from_page ? html`<p class="quiet">${spoken(`${from_page} ${t("Anything else by `{command}`.", { command: `dragoman config set ${key} …` })}`)}</p>` : nothing}
        ${waits_for_restart ? html`<p class="waits">${t("Takes effect after a restart.")} ${key === "port" ? spoken(t("The page is elsewhere then: `dragoman page` gives a link.")) : nothing}</p>` : nothing}
        ${variable ? html`<p class="waits">${t("The variable {name} is set, and it wins over the file.", { name: variable })}</p>` : nothing}
        ${this.written !== null && needs_restart && !this.wrong ? html`<p class="quiet">${t("It will take effect after a restart.")}</p>` : nothing}
      </div>
    </form>`;
  }

  private editor() {
    const { kind, choices, value, allowed } = this.setting;
    const described = this.wrong ? "notes" : nothing;
    if (kind === "boolean")
      return html`<input id="value" type="checkbox" .checked=${value === true} ?disabled=${this.isSaving} aria-describedby=${described}
        @change=${(event: Event) => this.save(String((event.target as HTMLInputElement).checked))} />`;
    if (kind === "choice")
      return html`<select id="value" ?disabled=${this.isSaving} aria-describedby=${described} @change=${(event: Event) => this.save((event.target as HTMLSelectElement).value)}>
        ${choices.map((it) => html`<option value=${it} .selected=${it === value}>${it}</option>`)}</select>`;
    return html`<input id="value" class="mono ${kind}" spellcheck="false" autocomplete="off" inputmode=${kind === "integer" ? "numeric" : nothing}
      title=${allowed} .value=${this.written ?? this.text} ?disabled=${this.isSaving}
      aria-invalid=${this.wrong ? "true" : "false"} aria-describedby=${described} @input=${this.typed} />`;
  }

  static override styles = [
    shared,
    css`
      :host { display: block; padding: .55rem 0; border-top: 1px solid var(--line); }
      form { display: grid; grid-template-columns: minmax(0, 1fr) minmax(12rem, 22rem); gap: .2rem 1.2rem; align-items: center; }
      code { font: .92em var(--mono); } label code.key { font: .8rem var(--mono); color: var(--quiet); overflow-wrap: anywhere; }
      .line { display: flex; gap: .5rem; align-items: center; min-width: 0; }
      input:not([type]) { flex: 1; min-width: 0; } .integer { max-width: 9rem; }
      input[type="checkbox"] { accent-color: var(--accent); width: 1.1rem; height: 1.1rem; }
      output { overflow-wrap: anywhere; }
      [aria-invalid="true"] { border-color: var(--bad); }
      .notes { grid-column: 1 / -1; } .notes p { margin: .15rem 0 0; font-size: .9rem; }
      .good { color: var(--good); } .waits { color: var(--warn); }
      @media (max-width: 40rem) { form { grid-template-columns: minmax(0, 1fr); } }
    `,
  ];
}
