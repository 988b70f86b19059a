/** The red button that stops everything that agents do. It asks once, because programs end by it. */
import { LitElement, css, html } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { t } from "../link";
import { agentPause } from "./agentPause";
import { sharedStyles } from "./styles";

@customElement("dragoman-stop-all")
export class StopAllButton extends LitElement {
  @query("dialog") private dialog!: HTMLDialogElement;
  @query("#sure") private sure!: HTMLButtonElement;
  @state() private isStopping = false;

  private ask(): void {
    this.dialog.showModal();
    this.sure.focus();
  }

  private async stop(): Promise<void> {
    this.isStopping = true;
    try {
      await agentPause.stopAll();
    } finally {
      this.isStopping = false;
      this.dialog.close();
    }
  }

  override render() {
    return html`<button id="stop-all" class="danger" aria-haspopup="dialog" @click=${() => this.ask()}
        ><span aria-hidden="true">■</span> ${t("Stop everything")}</button
      >
      <dialog aria-labelledby="title" aria-describedby="about">
        <h2 id="title">${t("Stop everything that agents do?")}</h2>
        <ul id="about">
          <li>${t("All agents are paused until you let them go on.")}</li>
          <li>${t("Their calls, chat runs and terminals end.")}</li>
          <li>${t("Programs that a debugger started end. Programs that were running before run on.")}</li>
        </ul>
        <p class="choice">
          <button @click=${() => this.dialog.close()}>${t("Cancel")}</button>
          <button
            class="danger"
            id="sure"
            aria-disabled=${this.isStopping}
            @click=${() => this.isStopping || this.stop()}
            >${this.isStopping ? t("Stopping…") : t("Stop everything")}</button
          >
        </p>
      </dialog>`;
  }

  static override styles = [
    sharedStyles,
    css`
      .danger {
        background: var(--danger);
        border-color: var(--danger);
        color: #ffffff;
        white-space: nowrap;
      }
      dialog {
        max-width: 30rem;
        border: 1px solid var(--line);
        border-radius: 0.5rem;
        background: var(--card);
        color: inherit;
        white-space: normal;
      }
      dialog::backdrop {
        background: rgb(0 0 0 / 45%);
      }
      h2 {
        margin: 0;
        font-size: 1.05rem;
      }
      ul {
        margin: 0.7rem 0;
        padding-left: 1.2rem;
      }
      @media (max-width: 40rem) {
        #stop-all {
          padding: 0.15rem 0.55rem;
          font-size: 0.82rem;
        }
      }
      .choice {
        display: flex;
        justify-content: flex-end;
        gap: 0.6rem;
        margin: 0;
      }
    `,
  ];
}
