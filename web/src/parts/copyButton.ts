/** A button that copies a text and says so. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { t } from "../link";
import "./chinese";

const NOTICE_MS = 2500;

@customElement("dragoman-copy")
export class CopyButton extends LitElement {
  @property() text = "";
  /** What it copies, for its name. */
  @property() what = "";
  @state() private outcome: "" | "copied" | "blocked" = "";
  private timer = 0;

  private async copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(this.text);
      this.outcome = "copied";
    } catch {
      this.outcome = "blocked";
    }
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => (this.outcome = ""), NOTICE_MS);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  override render() {
    return html`<button aria-label=${t("Copy: {what}", { what: this.what })} @click=${() => this.copy()}
        >${this.outcome === "copied" ? t("Copied.") : t("Copy")}</button
      >
      <span class="unseen" role="status"
        >${this.outcome === "copied" ? t("Copied: {what}", { what: this.what }) : ""}</span
      >
      ${
        this.outcome === "blocked"
          ? html`<span class="bad" role="alert"
              >${t("The browser blocked copying. Select the text and copy it yourself.")}</span
            >`
          : nothing
      }`;
  }

  static override styles = [
    sharedStyles,
    css`
      /* What is hidden for the eye must not make a view larger. */
      :host {
        position: relative;
      }
    `,
  ];
}
