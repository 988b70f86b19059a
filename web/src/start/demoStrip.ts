/** What the demo's agent does now, above whichever view the person looks at. */
import { LitElement, css, html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { router } from "../app/router";
import { sharedStyles } from "../app/styles";
import { t } from "../link";
import { demo } from "./demo";
import { demoEndText } from "./demoText";

@customElement("dragoman-demo-strip")
export class DemoStrip extends LitElement {
  private readonly changed = () => this.requestUpdate();

  override connectedCallback(): void {
    super.connectedCallback();
    demo.addEventListener("change", this.changed);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    demo.removeEventListener("change", this.changed);
  }

  private leave(): void {
    demo.close();
    router.navigate("start");
  }

  override render() {
    const isRunning = demo.isRunning;
    return html`<section class=${demo.state} aria-label=${t("Demo")}>
      <b>${isRunning ? demo.latestHeading || t("Demo") : t("Demo")}</b>
      <span class="text" role="status">${isRunning ? demo.latestText : demoEndText(demo)}</span>
      ${
        isRunning
          ? html`<button @click=${() => demo.stop()}>${t("Stop the demo")}</button>`
          : html`${demo.state === "done" ? html`<button class="primary" @click=${() => this.leave()}>${t("Connect your own agent")}</button>` : nothing}
              <button class="plain" @click=${() => demo.close()}>${t("Close")}</button>`
      }
    </section>`;
  }

  static override styles = [
    sharedStyles,
    css`
      section {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 0.3rem 1rem;
        padding: 0.45rem 1rem;
        border-bottom: 1px solid var(--line);
        border-left: 4px solid var(--accent);
        background: var(--raised);
      }
      .failed {
        border-left-color: var(--bad);
      }
      .done {
        border-left-color: var(--good);
      }
      .text {
        flex: 1;
        min-width: 12rem;
        overflow: hidden;
        text-overflow: ellipsis;
      }
    `,
  ];
}
