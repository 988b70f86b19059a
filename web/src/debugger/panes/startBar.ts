/** What can be started: a configuration of the folder, or the file that is open. */
import { css, html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import { DebuggerPane, baseName } from "./pane";

@customElement("dragoman-start-bar")
export class StartBar extends DebuggerPane {
  override render() {
    return html`${this.controller.sessions.folders.length > 1 ? this.folder() : nothing} ${this.configurations()}`;
  }

  private folder() {
    const { folders, workspace } = this.controller.sessions;
    return html`<label
      ><span class="unseen">${t("Folder")}</span>
      <select
        id="folder"
        title=${workspace}
        @change=${(event: Event) => this.controller.sessions.selectFolder((event.target as HTMLSelectElement).value)}
      >
        ${folders.map((it) => html`<option value=${it} .selected=${it === workspace}>${baseName(it)}</option>`)}
      </select></label
    >`;
  }

  private configurations() {
    const { all, problem, current } = this.controller.configurations;
    if (!all) return nothing;
    const wrong = problem ? html`<span id="unreadable" class="bad">${problem}</span>` : nothing;
    if (!all.length || !current) return html`${this.plainStart()} ${wrong}`;
    return html`<form @submit=${(event: Event) => (event.preventDefault(), void this.controller.startShown())}>
      <label
        ><span class="unseen">${t("Configuration")}</span>
        <select
          id="configuration"
          @change=${(event: Event) => this.controller.configurations.choose((event.target as HTMLSelectElement).value)}
        >
          ${all.map((it) => html`<option value=${it.name} .selected=${it === current}>${it.name}</option>`)}
        </select></label
      >
      <button id="start" class="primary" title="F5" ?disabled=${this.controller.commands.busy}>${t("Start")}</button>
    </form>`;
  }

  /** Without a launch.json: the file that is open, as it is. */
  private plainStart() {
    const program = this.controller.text?.path ?? "";
    if (!program) return html`<span class="quiet">${t("Open a file below to start it.")}</span>`;
    return html`<button
      id="start-file"
      class="primary"
      title=${program}
      ?disabled=${this.controller.commands.busy}
      @click=${() => this.controller.startShown()}
    >
      ${t("Start {name}", { name: baseName(program) })}</button
    >`;
  }

  static override styles = [
    sharedStyles,
    css`
      :host,
      form {
        display: flex;
        gap: 0.3rem;
        align-items: center;
      }
      select {
        max-width: 14rem;
      }
    `,
  ];
}
