/** The variables of the chosen frame, or those that were read at the past stop that is shown. */
import { css, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import type { PastStop } from "../../replay/pastStops";
import type { Scope } from "../toolResults";
import type { VariableNode } from "../variableTree";
import "../variableTree";
import { DebuggerPane } from "./pane";
import { paneStyles } from "./styles";

@customElement("dragoman-variable-pane")
export class VariablePane extends DebuggerPane {
  @state() private nodes: VariableNode[] = [];
  private scopes: Scope[] | null = null;

  /** New nodes only where the scopes are new: whatever is open is then read again. */
  protected override willUpdate(): void {
    const { scopes } = this.controller.inspection;
    if (this.scopes === scopes) return;
    this.scopes = scopes;
    this.nodes = scopes.map((it) => ({ name: it.name, value: "", type: "", reference: it.variables_reference }));
  }

  override render() {
    const { pastStop: then } = this.controller.history;
    return then ? this.pastVariables(then) : this.presentVariables();
  }

  private presentVariables() {
    return html`${this.nodes.length ? nothing : html`<p class="none">${t("The program is not stopped.")}</p>`}
      <dragoman-values
        id="variables"
        expandsFirst
        label=${t("Variables")}
        .context=${this.controller.inspection.valuesContext}
        .roots=${this.nodes}
        .load=${this.load}
      ></dragoman-values>`;
  }

  private pastVariables({ variables }: PastStop) {
    return html`${variables.length ? nothing : html`<p class="none">${t("No variables were read at this stop.")}</p>`}
      <dragoman-values id="variables-then" label=${t("Variables")} .roots=${variables}></dragoman-values>`;
  }

  private readonly load = (reference: number, start: number, count: number) =>
    this.controller.inspection.variables(reference, start, count);

  static override styles = [
    sharedStyles,
    paneStyles,
    css`
      dragoman-values {
        flex: 1;
        background: var(--card);
      }
    `,
  ];
}
