/** One banner for what agents ask, in every view except the one where it is answered. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { canvasNotifications, type AnsweredQuestion } from "../canvas/notifications";
import { approvals } from "../chat/approvals";
import { ignoreUnreachable, t } from "../link";
import { actorName } from "../parts/actors";
import { icon } from "../parts/icons";
import { allQuestions, decide, desktopNotices, openQuestions, type AgentQuestion } from "./questions";
import { router } from "./router";
import { sharedStyles } from "./styles";

@customElement("dragoman-questions")
export class QuestionBanner extends LitElement {
  @property() view = "";
  /** The question that is shown, if there are several. */
  @state() private index = 0;

  private readonly changed = (): void => {
    desktopNotices.update(allQuestions());
    this.requestUpdate();
  };

  override connectedCallback(): void {
    super.connectedCallback();
    for (const source of [canvasNotifications, approvals]) source.addEventListener("change", this.changed);
    router.addEventListener("change", this.changed);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const source of [canvasNotifications, approvals]) source.removeEventListener("change", this.changed);
    router.removeEventListener("change", this.changed);
  }

  private async askForNotices(): Promise<void> {
    await desktopNotices.ask();
    this.requestUpdate();
  }

  override render() {
    const questions = openQuestions(this.view);
    const shown = questions[this.index % Math.max(1, questions.length)];
    return html`${shown ? this.question(shown, questions) : nothing}${canvasNotifications.answered.map((it) => this.answered(it))}`;
  }

  private question(it: AgentQuestion, all: readonly AgentQuestion[]) {
    return html`<section class="question" aria-label=${t("Questions of agents")}>
      <span class="mark" aria-hidden="true">${icon("question")}</span>
      <span class="text" role="status">${it.text} ${it.subject ? html`<code>${it.subject}</code>` : nothing}</span>
      <span class="actions">
        ${
          it.isYesOrNo
            ? html`<button class="primary" @click=${() => void decide(it, "allow").catch(ignoreUnreachable)}
                  >${t("Allow")}</button
                ><button @click=${() => void decide(it, "deny").catch(ignoreUnreachable)}>${t("Refuse")}</button>`
            : html`<button class="primary" @click=${() => router.navigate(...(it.place as [string, ...string[]]))}
                >${t("Answer")}</button
              >`
        }
        ${
          all.length > 1
            ? html`<button @click=${() => (this.index = (all.indexOf(it) + 1) % all.length)}
                >${t("Next ({number} of {count})", { number: all.indexOf(it) + 1, count: all.length })}</button
              >`
            : nothing
        }
        ${desktopNotices.canAsk ? html`<button class="plain" @click=${() => this.askForNotices()}>${t("Notify me on the desktop")}</button>` : nothing}
      </span>
    </section>`;
  }

  private answered(it: AnsweredQuestion) {
    const values = { drawer: actorName(it.drawer), name: it.title || it.surface_id };
    return html`<section class="question answered" aria-label=${t("Answered")}>
      <span class="mark" aria-hidden="true">${icon("check")}</span>
      <span class="text"
        >${t(it.isCancelled ? "You closed the question of {drawer}: {name}" : "You answered {drawer}: {name}", values)}</span
      >
      <button class="plain" @click=${() => canvasNotifications.dismiss(it)}>${t("Close")}</button>
    </section>`;
  }

  static override styles = [
    sharedStyles,
    css`
      .question {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 0.3rem 0.7rem;
        padding: 0.4rem 1rem;
        background: var(--marked);
        border-bottom: 1px solid var(--line);
        overflow-wrap: anywhere;
      }
      .question.answered {
        background: var(--added);
      }
      .mark {
        display: grid;
        place-items: center;
        width: 1.5rem;
        height: 1.5rem;
        border-radius: 50%;
        background: var(--warn);
        color: var(--card);
      }
      .answered .mark {
        background: var(--good);
      }
      .text {
        flex: 1;
        min-width: 12rem;
        max-height: 4.5em;
        overflow: auto;
      }
      .actions {
        display: flex;
        flex-wrap: wrap;
        gap: 0.4rem;
      }
      code {
        font: 0.9em var(--mono);
        white-space: pre-wrap;
      }
      @media (max-width: 40rem) {
        .question {
          padding: 0.5rem 0.6rem;
        }
        .actions {
          width: 100%;
        }
        .actions button {
          min-height: 2.4rem;
        }
      }
    `,
  ];
}
