/** The column with line numbers and breakpoints: one button for each line in sight, which screen readers can press. */
import { StateEffect, type Extension } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { GutterMarker, gutter } from "@codemirror/view";
import { t } from "../link";

export interface LineMark {
  /** Classes of the mark. */
  classes: string;
  title: string;
  isSet: boolean;
}

export interface GutterActions {
  /** The mark of a line; without breakpoints, only numbers are shown. */
  markAt(line: number): LineMark | undefined;
  hasBreakpoints: boolean;
  toggle(line: number): void;
  edit(line: number, at: DOMRect): void;
}

export const marksChanged = StateEffect.define<null>();

const NO_MARK: LineMark = { classes: "mark none", title: "", isSet: false };

class LineButton extends GutterMarker {
  constructor(
    private readonly line: number,
    private readonly mark: LineMark,
  ) {
    super();
  }

  override eq(other: LineButton): boolean {
    const { classes, title, isSet } = this.mark;
    return (
      other.line === this.line &&
      other.mark.classes === classes &&
      other.mark.title === title &&
      other.mark.isSet === isSet
    );
  }

  override toDOM(): Node {
    const button = document.createElement("button");
    button.className = "plain gutter";
    button.tabIndex = -1; // the keys of the text do the same for the line of the cursor
    button.dataset["line"] = String(this.line);
    button.title = this.mark.title || t("Click for a breakpoint, right-click for one with conditions.");
    button.setAttribute("aria-pressed", String(this.mark.isSet));
    button.setAttribute("aria-label", t("Breakpoint at line {line}", { line: this.line }));
    const mark = document.createElement("span");
    mark.className = this.mark.classes;
    button.append(mark, String(this.line));
    return button;
  }
}

class LineNumber extends GutterMarker {
  constructor(private readonly line: number) {
    super();
  }

  override eq(other: LineNumber): boolean {
    return other.line === this.line;
  }

  override toDOM(): Node {
    return document.createTextNode(String(this.line));
  }
}

export function breakpointGutter(actions: GutterActions): Extension {
  const lineOf = (view: EditorView, position: number) => view.state.doc.lineAt(position).number;
  return gutter({
    class: "cm-lines",
    lineMarker: (view, { from }) => {
      const line = lineOf(view, from);
      if (!actions.hasBreakpoints) return new LineNumber(line);
      return new LineButton(line, actions.markAt(line) ?? NO_MARK);
    },
    lineMarkerChange: ({ transactions }) =>
      transactions.some(({ effects }) => effects.some((effect) => effect.is(marksChanged))),
    initialSpacer: (view) => new LineNumber(widest(view)),
    updateSpacer: (_, { view }) => new LineNumber(widest(view)),
    domEventHandlers: {
      // A press must not end over another element: a button that changes is drawn anew.
      mousedown: (_, __, event) => (event.preventDefault(), true),
      click: (view, { from }) => (actions.toggle(lineOf(view, from)), true),
      contextmenu: (view, { from }, event) => {
        if (!actions.hasBreakpoints) return false;
        event.preventDefault();
        const { clientX, clientY } = event as MouseEvent;
        actions.edit(lineOf(view, from), new DOMRect(clientX, clientY - 10, 0, 20));
        return true;
      },
    },
  });
}

/** The number that needs the most room. */
function widest(view: EditorView): number {
  return Number("9".repeat(Math.max(3, String(view.state.doc.lines).length)));
}
