/** A part of the debugger view: drawn again whenever what the controller holds has changed. */
import { LitElement } from "lit";
import { property } from "lit/decorators.js";
import type { DebugController } from "../debugController";

export class DebuggerPane extends LitElement {
  @property({ attribute: false }) controller!: DebugController;
  private detach = () => {};

  override connectedCallback(): void {
    super.connectedCallback();
    this.detach = this.controller.attach(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.detach();
  }
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
