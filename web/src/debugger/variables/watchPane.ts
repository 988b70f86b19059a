/** The watched expressions, and a field to add one. */
import { css, html } from "lit";
import { customElement } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import "./variableTree";
import { DebuggerPane } from "../panes/pane";
import { paneStyles } from "../panes/styles";

@customElement("dragoman-watch-pane")
export class WatchPane extends DebuggerPane {
  override render() {
    const { inspection, history } = this.controller;
    const { watches } = inspection;
    return html`<dragoman-values
        id="watches"
        removable
        label=${t("Watch")}
        .context=${inspection.valuesContext}
        .roots=${history.pastStop ? watches.emptyNodes : watches.nodes}
        .load=${inspection.variables}
        .assign=${history.pastStop ? null : inspection.assign}
        @forget=${(event: CustomEvent<string>) => watches.remove(event.detail)}
      ></dragoman-values>
      <form @submit=${this.watch}
        ><label
          ><span class="unseen">${t("Expression")}</span>
          <input
            id="watch"
            class="mono"
            placeholder=${t("An expression, then Enter")}
            spellcheck="false"
            autocomplete="off" /></label
      ></form>`;
  }

  private readonly watch = (event: SubmitEvent) => {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).querySelector("input")!;
    void this.controller.inspection.watch(field.value.trim());
    field.value = "";
  };

  static override styles = [
    sharedStyles,
    paneStyles,
    css`
      form {
        padding: 0.3rem 0.5rem;
      }
      input {
        width: 100%;
        padding: 0.1rem 0.4rem;
        font-size: 0.82rem;
      }
      dragoman-values {
        flex: 1;
        background: var(--card);
      }
    `,
  ];
}
