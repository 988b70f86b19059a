/** The breakpoints of the folder: each leads to its line, and can be removed. */
import { css, html } from "lit";
import { customElement } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import { breakpointTitle } from "../../breakpoints/breakpointMarks";
import type { Breakpoint } from "../toolResults";
import { DebuggerPane, baseName } from "./pane";
import { paneStyles } from "./styles";

@customElement("dragoman-breakpoint-pane")
export class BreakpointPane extends DebuggerPane {
  override render() {
    const { all } = this.controller.breakpoints;
    if (!all.length) return html`<p class="none">${t("Click beside a line number to set one.")}</p>`;
    return html`<ul id="breakpoints"
      >${all.map((it) => this.renderBreakpoint(it))}</ul
    >`;
  }

  private renderBreakpoint(it: Breakpoint) {
    const path = it.source?.path ?? "";
    const name = path ? `${baseName(path)}:${it.line}` : (it.function_name ?? it.exception ?? it.variable ?? it.kind);
    return html`<li
      ><button
        class="plain item mono"
        title="${path} ${breakpointTitle(it, this.controller.sessions.isLive)}"
        ?disabled=${!path}
        @click=${() => this.controller.open(path, it.line ?? 0)}
      >
        <span class="grow">${name}</span
        ><span class="quiet">${it.condition ? `if ${it.condition}` : it.enabled ? "" : t("off")}</span></button
      >
      <button
        class="plain forget"
        aria-label=${t("Remove the breakpoint {name}", { name })}
        @click=${() => this.controller.breakpoints.remove(it.id)}
        >×</button
      ></li
    >`;
  }

  static override styles = [
    sharedStyles,
    paneStyles,
    css`
      li {
        display: flex;
      }
      li .item {
        flex: 1;
        min-width: 0;
      }
      .forget {
        padding: 0 0.6rem;
        color: var(--quiet);
      }
    `,
  ];
}
