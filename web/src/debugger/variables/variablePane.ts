/** The variables of the chosen frame, or those that were read at the past stop that is shown. */
import { css, html } from "lit";
import { customElement, state } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import type { PastStop } from "../../replay/pastStops";
import "../../replay/pastVariables";
import type { Scope } from "../toolResults";
import type { VariableNode } from "./variableTree";
import "./variableTree";
import { DebuggerPane } from "../panes/pane";
import { paneStyles } from "../panes/styles";

@customElement("dragoman-variable-pane")
export class VariablePane extends DebuggerPane {
  @state() private nodes: VariableNode[] = [];
  @state() private filter = "";
  private scopes: Scope[] | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.addEventListener("keydown", this.pressed);
  }

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
    const { inspection } = this.controller;
    return html`${this.nodes.length ? this.filterField() : html`<p class="none">${t("The program is not stopped.")}</p>`}
      <dragoman-values
        id="variables"
        expandsFirst
        label=${t("Variables")}
        .context=${inspection.valuesContext}
        .stop=${String(inspection.stop?.stop_number ?? "")}
        .filter=${this.filter}
        .roots=${this.nodes}
        .load=${inspection.variables}
        .assign=${inspection.assign}
        .readWhole=${inspection.whole}
        @watch-expression=${(event: CustomEvent<string>) => void inspection.watch(event.detail)}
      ></dragoman-values>`;
  }

  private pastVariables(then: PastStop) {
    const { history, sessions } = this.controller;
    return html`<dragoman-past-variables
      id="variables-then"
      .stop=${then}
      .present=${history.presentValues(sessions.selected)}
      @over-time=${({ detail }: CustomEvent<string>) => this.controller.showValuesOf(detail)}
    ></dragoman-past-variables>`;
  }

  private filterField() {
    return html`<input
      id="filter-variables"
      type="search"
      aria-label=${t("Filter by name")}
      placeholder=${t("Filter by name")}
      .value=${this.filter}
      spellcheck="false"
      @input=${(event: InputEvent) => (this.filter = (event.target as HTMLInputElement).value.trim())}
    />`;
  }

  private readonly pressed = (event: KeyboardEvent): void => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== "f") return;
    event.preventDefault();
    this.renderRoot.querySelector<HTMLInputElement>("#filter-variables")?.select();
  };

  static override styles = [
    sharedStyles,
    paneStyles,
    css`
      dragoman-values,
      dragoman-past-variables {
        flex: 1;
        background: var(--card);
      }
      #filter-variables {
        flex: none;
        margin: 0 0.5rem 0.25rem;
        padding: 0.05rem 0.5rem;
        font-size: 0.82rem;
      }
    `,
  ];
}
