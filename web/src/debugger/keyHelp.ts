/** Every key of the debugger view, in a dialog. */
import { LitElement, css, html } from "lit";
import { customElement, query } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { t } from "../link";
import { CONTROLS } from "./controls";

const GROUPS: readonly { title: string; keys: readonly (readonly [string, string])[] }[] = [
  {
    title: "Run control",
    keys: [["F5", "Start, or continue"], ...CONTROLS.slice(1).map(({ key, title }) => [key, title] as const)],
  },
  {
    title: "Source",
    keys: [
      ["F9", "Set or remove a breakpoint at the line"],
      ["Alt+Shift+A", "Ask about the selected lines"],
    ],
  },
  {
    title: "Variables",
    keys: [
      ["↑ ↓ ← →", "Move, open and close"],
      ["F2", "Edit the value"],
      ["Ctrl+C", "Copy the value"],
      ["Shift+F10", "Open the menu"],
      ["Ctrl+F", "Filter by name"],
    ],
  },
  {
    title: "Output and console",
    keys: [
      ["Ctrl+F", "Find in the output"],
      ["F3", "Next hit"],
      ["Shift+F3", "Previous hit"],
      ["↑ ↓", "Earlier and later expressions"],
      ["Shift+Enter", "New line"],
      ["Ctrl+Space", "Completions"],
    ],
  },
  {
    title: "Panes",
    keys: [
      ["↑ ↓ ← →", "Move the line between two panes"],
      ["Enter", "Put it back"],
      ["?", "Show these keys"],
    ],
  },
];

@customElement("dragoman-key-help")
export class KeyHelp extends LitElement {
  @query("dialog") private dialog!: HTMLDialogElement;

  open(): void {
    if (!this.dialog.open) this.dialog.showModal();
  }

  override render() {
    return html`<dialog aria-labelledby="title" @click=${this.closeOutside}>
      <div class="card">
        <h2 id="title">${t("Keys of the debugger")}</h2>
        <div class="groups">
          ${GROUPS.map(
            ({ title, keys }) =>
              html`<section aria-label=${t(title)}
                ><h3>${t(title)}</h3>
                <dl
                  >${keys.map(
                    ([key, what]) =>
                      html`<div
                        ><dt>${key.split(" ").map((it) => html`<kbd>${it}</kbd> `)}</dt><dd>${t(what)}</dd></div
                      >`,
                  )}</dl
                ></section
              >`,
          )}
        </div>
        <p><button class="primary" @click=${() => this.dialog.close()}>${t("Close")}</button></p>
      </div>
    </dialog>`;
  }

  /** A click beside the card, on the backdrop, closes it. */
  private closeOutside(event: MouseEvent): void {
    if (event.target === this.dialog) this.dialog.close();
  }

  static override styles = [
    sharedStyles,
    css`
      dialog {
        padding: 0;
        width: min(46rem, 94vw);
        border: 1px solid var(--line);
        border-radius: 0.6rem;
        background: var(--card);
        color: inherit;
        box-shadow: 0 12px 40px #0005;
      }
      dialog::backdrop {
        background: rgb(0 0 0 / 40%);
      }
      .card {
        padding: 1rem 1.3rem;
      }
      h2 {
        margin: 0 0 0.5rem;
        font-size: 1.1rem;
      }
      h3 {
        margin: 0.6rem 0 0.3rem;
        font-size: 0.85rem;
        color: var(--quiet);
      }
      .groups {
        columns: 2 18rem;
        column-gap: 2rem;
      }
      section {
        break-inside: avoid;
      }
      dl {
        margin: 0;
      }
      dl div {
        display: flex;
        gap: 0.8rem;
        align-items: baseline;
        padding: 0.15rem 0;
      }
      dt {
        flex: 0 0 8.5rem;
        text-align: right;
      }
      dd {
        margin: 0;
        font-size: 0.92rem;
      }
      kbd {
        padding: 0.05rem 0.4rem;
        border: 1px solid var(--line);
        border-bottom-width: 2px;
        border-radius: 0.3rem;
        background: var(--paper);
        font: 0.8rem var(--mono);
      }
      p {
        margin: 0.8rem 0 0;
        text-align: right;
      }
    `,
  ];
}
