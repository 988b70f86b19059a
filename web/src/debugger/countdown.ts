/** How long a program still stands that was running before the debugger came, and a button that puts that off. */
import { LitElement, css, html, nothing, type PropertyValues } from "lit";
import { customElement, property } from "lit/decorators.js";
import { t } from "../link";
import { sharedStyles } from "../app/styles";

const TICK_MS = 500;

@customElement("dragoman-countdown")
export class Countdown extends LitElement {
  /** On the clock of `performance`; null while the program stands for as long as its clients want. */
  @property({ attribute: false }) endsAt: number | null = null;
  @property({ attribute: false }) hold: () => void = () => {};
  private timer = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    this.timer = window.setInterval(() => this.endsAt !== null && this.requestUpdate(), TICK_MS);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  protected override willUpdate(_: PropertyValues): void {
    this.hidden = this.endsAt === null;
  }

  override render() {
    if (this.endsAt === null) return nothing;
    const seconds = Math.max(0, Math.ceil((this.endsAt - performance.now()) / 1000));
    const why = t("The program was already running; it resumes automatically.");
    return html`<span role="timer" title=${why}>${t("runs on in {seconds} s", { seconds })}</span>
      <button id="hold" title=${t("Keep the program here for two more minutes.")} @click=${() => this.hold()}
        >${t("Hold")}</button
      >`;
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: inline-flex;
        align-items: center;
        gap: 0.4rem;
        margin-left: auto;
        white-space: nowrap;
      }
      span {
        color: var(--bad);
        font-variant-numeric: tabular-nums;
      }
      button {
        padding: 0.05rem 0.5rem;
      }
    `,
  ];
}
