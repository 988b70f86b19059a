/** The breakpoints of the folder: each leads to its line, and can be changed and removed. */
import { html } from "lit";
import { customElement, query } from "lit/decorators.js";
import type { DragomanBreakpoints } from "../../breakpoints/breakpoints";
import "../../breakpoints/breakpoints";
import { DebuggerPane } from "./pane";

@customElement("dragoman-breakpoint-pane")
export class BreakpointPane extends DebuggerPane {
  @query("dragoman-breakpoints") private list!: DragomanBreakpoints;

  override render() {
    const { breakpoints, sessions } = this.controller;
    return html`<dragoman-breakpoints
      .list=${breakpoints}
      .isLive=${sessions.isLive}
      @open-source=${({ detail }: CustomEvent<{ path: string; line: number }>) =>
        this.controller.open(detail.path, detail.line)}
    ></dragoman-breakpoints>`;
  }

  /** Breakpoints change inside of the list. */
  protected override updated(): void {
    this.list.requestUpdate();
  }
}
