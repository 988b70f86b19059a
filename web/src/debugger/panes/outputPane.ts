/** What the program printed. */
import { css, html } from "lit";
import { customElement } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import "../../parts/rows";
import { DebuggerPane } from "./pane";
import { paneStyles } from "./styles";

@customElement("dragoman-output-pane")
export class OutputPane extends DebuggerPane {
  override render() {
    const lines = this.controller.output.lines.all;
    return html`<dragoman-rows
      id="output"
      anchor="end"
      tabindex="0"
      aria-label=${t("Output")}
      data-about=${t("what the program printed")}
      .rows=${lines}
      .height=${19}
      .renderRow=${(line: string) => html`<div class="printed">${line}</div>`}
    ></dragoman-rows>`;
  }

  static override styles = [
    sharedStyles,
    paneStyles,
    css`
      dragoman-rows {
        flex: 1;
        min-height: 0;
        background: var(--card);
      }
      .printed {
        height: 19px;
        padding: 0 0.8rem;
        font: 0.82rem/19px var(--mono);
        white-space: pre;
      }
    `,
  ];
}
