/** The source with the field that opens a file. */
import { css, html } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import { FrameValues } from "../../source/frameValues";
import type { DragomanSource } from "../../source/source";
import "../../source/source";
import { DebuggerPane } from "./pane";

@customElement("dragoman-source-pane")
export class SourcePane extends DebuggerPane {
  @query("dragoman-source") private source!: DragomanSource;
  /** The part of a file name that was typed: a stop in the meantime does not remove it. */
  @state() private typed: string | null = null;

  private readonly values = new FrameValues(
    (tool, args) => this.controller.sessions.call(tool, args),
    (reference, start, count) => this.controller.inspection.variables(reference, start, count),
    () => this.requestUpdate(),
  );
  private valuesOf: unknown = null;

  override render() {
    const { text, revealed, inspection, breakpoints, sessions } = this.controller;
    const { pastStop: then } = this.controller.history;
    const path = text?.path ?? "";
    const at = this.place();
    const isHere = at !== null && text?.is(at.path, sessions.workspace);
    return html`<form @submit=${this.openFile}>
        <label
          ><span class="unseen">${t("File")}</span>
          <input
            id="file"
            class="mono"
            placeholder=${t("A file in the workspace, or a full path")}
            .value=${this.typed ?? path}
            spellcheck="false"
            @focus=${() => (this.typed ??= path)}
            @blur=${() => this.typed === path && (this.typed = null)}
            @input=${(event: InputEvent) => (this.typed = (event.target as HTMLInputElement).value)}
        /></label>
        <button>${t("Open")}</button>
      </form>
      <dragoman-source
        .text=${text}
        .breakpoints=${breakpoints}
        .current=${isHere ? at.line : 0}
        .revealed=${revealed}
        .isTop=${then !== null || inspection.frame?.frame_id === inspection.stop?.call_stack[0]?.frame_id}
        .isLive=${sessions.isLive}
        .values=${this.values}
      ></dragoman-source>`;
  }

  /** Once for each stop, each frame and each change of a value. */
  protected override willUpdate(): void {
    const { history, inspection, sessions } = this.controller;
    const { scopes, frame, valuesContext } = inspection;
    const of = history.pastStop ?? scopes;
    if (of === this.valuesOf) return;
    this.valuesOf = of;
    const address = frame && { session_id: sessions.selected, frame_id: frame.frame_id };
    if (history.pastStop) this.values.set(history.pastStop.variables);
    else if (!address || !scopes.length) this.values.set([]);
    else void this.values.read(address, scopes, valuesContext);
  }

  /** Breakpoints and clicks change inside of what the source was given. */
  protected override updated(): void {
    this.source.requestUpdate();
  }

  private place(): { path: string; line: number } | null {
    const { inspection, history } = this.controller;
    if (history.pastStop) return history.pastStop;
    return inspection.frame && { path: inspection.frame.file_path, line: inspection.frame.line_number };
  }

  private readonly openFile = (event: SubmitEvent) => {
    event.preventDefault();
    const path = (event.target as HTMLFormElement).querySelector("input")!.value.trim();
    this.typed = null;
    if (path) this.controller.open(path, 0);
  };

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 0;
      }
      form {
        display: flex;
        gap: 0.3rem;
        padding: 0.3rem 0.5rem;
        border-bottom: 1px solid var(--line);
      }
      label {
        flex: 1;
      }
      input {
        width: 100%;
      }
      input,
      button {
        padding-top: 0.1rem;
        padding-bottom: 0.1rem;
        font-size: 0.88rem;
      }
      dragoman-source {
        flex: 1;
      }
    `,
  ];
}
