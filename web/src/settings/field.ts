/** One setting: what it is for, what it is, and what was wrong with what was written into it. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { withInlineCode } from "../app/inlineCode";
import { t } from "../link";
import "./chinese";
import type { Setting } from "./settingsController";

@customElement("dragoman-setting")
export class DragomanSetting extends LitElement {
  @property({ attribute: false }) setting!: Setting;
  @property({ attribute: false }) change!: (key: string, value: string) => Promise<string>;
  @state() private draft: string | null = null;
  @state() private error = "";
  @state() private isSaving = false;
  @state() private isSaved = false;

  private get text(): string {
    const { value } = this.setting;
    return Array.isArray(value) ? value.join(", ") : String(value ?? "");
  }

  private get canReset(): boolean {
    const { may_change: mayChange, value, default: standard } = this.setting;
    return mayChange && this.draft === null && JSON.stringify(value) !== JSON.stringify(standard);
  }

  private async save(value: string): Promise<void> {
    this.isSaving = true;
    this.error = await this.change(this.setting.key, value);
    this.isSaving = false;
    this.isSaved = !this.error;
    if (!this.error && this.draft === value) this.draft = null; // unless it was changed meanwhile
    if (this.error) this.syncControl();
  }

  /** A switch or a choice that was not taken shows again what holds. */
  private syncControl(): void {
    const control = this.renderRoot.querySelector<HTMLInputElement | HTMLSelectElement>("input[type=checkbox], select");
    if (control instanceof HTMLInputElement) control.checked = this.setting.value === true;
    else if (control) control.value = String(this.setting.value);
  }

  private readonly handleInput = (event: InputEvent): void => {
    const { value } = event.target as HTMLInputElement;
    this.draft = value === this.text ? null : value;
    this.error = "";
    this.isSaved = false;
  };

  override render() {
    const { key, about, may_change, variable, waits_for_restart, needs_restart, from_page } = this.setting;
    return html`<form
      @submit=${(event: Event) => {
        event.preventDefault();
        if (this.draft !== null) void this.save(this.draft);
      }}
    >
      <label for="value"
        >${withInlineCode(about)}
        <code class="key">${key}</code>
        ${needs_restart ? html`<span class="chip">${t("needs a restart")}</span>` : nothing}</label
      >
      <div class="line">
        ${may_change ? this.editor() : html`<output id="value" class="mono">${this.text || t("not set")}</output>`}
        ${this.draft === null ? nothing : html`<button class="primary" ?disabled=${this.isSaving}>${t("Save")}</button>`}
        ${this.canReset ? html`<button type="button" class="plain reset" aria-label=${t("Reset {key} to {value}", { key, value: defaultText(this.setting) || t("not set") })} title=${t("Reset {key} to {value}", { key, value: defaultText(this.setting) || t("not set") })} @click=${() => this.save(defaultText(this.setting))}>${t("Reset")}</button>` : nothing}
        ${this.isSaved ? html`<span class="good" role="status">${t("Saved.")}</span>` : nothing}
      </div>
      <div id="notes" class="notes">
        ${this.draft !== null && !this.error && this.setting.allowed ? html`<p class="quiet">${t("Allowed: {values}", { values: this.setting.allowed })}</p>` : nothing}
        ${this.error ? html`<p class="bad" role="alert">${withInlineCode(this.error)}</p>` : nothing}
        ${may_change ? nothing : html`<p class="quiet">${withInlineCode(t("Change it with `{command}`.", { command: `dragoman config set ${key} …` }))}</p>`}
        ${from_page ? html`<p class="quiet">${withInlineCode(`${from_page} ${t("Set other values with `{command}`.", { command: `dragoman config set ${key} …` })}`)}</p>` : nothing}
        ${waits_for_restart ? html`<p class="waits">${t("Takes effect after a restart.")} ${key === "port" ? withInlineCode(t("The page's address changes then: run `dragoman page` for a link.")) : nothing}</p>` : nothing}
        ${variable ? html`<p class="waits">${t("The environment variable {name} is set and overrides the file.", { name: variable })}</p>` : nothing}
        ${this.draft !== null && needs_restart && !this.error ? html`<p class="quiet">${t("This will take effect after a restart.")}</p>` : nothing}
      </div>
    </form>`;
  }

  private editor() {
    const { kind, choices, value, allowed } = this.setting;
    const described = this.error ? "notes" : nothing;
    if (kind === "boolean")
      return html`<input
        id="value"
        type="checkbox"
        .checked=${value === true}
        ?disabled=${this.isSaving}
        aria-describedby=${described}
        @change=${(event: Event) => this.save(String((event.target as HTMLInputElement).checked))}
      />`;
    if (kind === "choice")
      return html`<select
        id="value"
        ?disabled=${this.isSaving}
        aria-describedby=${described}
        @change=${(event: Event) => this.save((event.target as HTMLSelectElement).value)}
      >
        ${choices.map((it) => html`<option value=${it} .selected=${it === value}>${it}</option>`)}</select
      >`;
    return html`<input
      id="value"
      class="mono ${kind}"
      spellcheck="false"
      autocomplete="off"
      inputmode=${kind === "integer" ? "numeric" : nothing}
      title=${allowed}
      .value=${this.draft ?? this.text}
      ?disabled=${this.isSaving}
      aria-invalid=${this.error ? "true" : "false"}
      aria-describedby=${described}
      @input=${this.handleInput}
    />`;
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: block;
        padding: 0.55rem 0;
        border-top: 1px solid var(--line);
      }
      form {
        display: grid;
        grid-template-columns: minmax(0, 1fr) minmax(12rem, 22rem);
        gap: 0.2rem 1.2rem;
        align-items: center;
      }
      code {
        font: 0.92em var(--mono);
      }
      label code.key {
        font: 0.8rem var(--mono);
        color: var(--quiet);
        overflow-wrap: anywhere;
      }
      .chip {
        padding: 0 0.45rem;
        border: 1px solid var(--line);
        border-radius: 1rem;
        font-size: 0.75rem;
        color: var(--quiet);
        white-space: nowrap;
      }
      .reset {
        color: var(--accent);
        font-size: 0.88rem;
      }
      .line {
        display: flex;
        gap: 0.5rem;
        align-items: center;
        min-width: 0;
      }
      input:not([type]) {
        flex: 1;
        min-width: 0;
      }
      .integer {
        max-width: 9rem;
      }
      input[type="checkbox"] {
        accent-color: var(--accent);
        width: 1.1rem;
        height: 1.1rem;
      }
      output {
        overflow-wrap: anywhere;
      }
      [aria-invalid="true"] {
        border-color: var(--bad);
      }
      .notes {
        grid-column: 1 / -1;
      }
      .notes p {
        margin: 0.15rem 0 0;
        font-size: 0.9rem;
      }
      .good {
        color: var(--good);
      }
      .waits {
        color: var(--warn);
      }
      @media (max-width: 40rem) {
        form {
          grid-template-columns: minmax(0, 1fr);
        }
      }
    `,
  ];
}

/** As it is written into the settings. */
function defaultText({ default: value }: Setting): string {
  return Array.isArray(value) ? value.join(", ") : String(value ?? "");
}
