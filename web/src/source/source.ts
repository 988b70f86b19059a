/** The source of a program: where it stands, its breakpoints, and what its variables hold. */
import { syntaxTree } from "@codemirror/language";
import { Compartment, EditorSelection, EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { Tree } from "@lezer/common";
import { LitElement, html, nothing, type PropertyValues } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { chatQuote } from "../app/chatQuote";
import { sharedStyles } from "../app/styles";
import type { EditedBreakpoint } from "../breakpoints/breakpointForm";
import "../breakpoints/breakpointForm";
import type { BreakpointList } from "../breakpoints/breakpointList";
import { breakpointTitle, markClasses, markStyles } from "../breakpoints/breakpointMarks";
import { t } from "../link";
import "./chinese";
import { languageWith, parseInBackground } from "./backgroundParser";
import { breakpointGutter, marksChanged, type GutterActions, type LineMark } from "./breakpointGutter";
import { documentOf, syncWith } from "./documentSync";
import { editorSetup } from "./editorSetup";
import { languageOf, loadParsers, loadedParser } from "./languages";
import type { FrameValues } from "./frameValues";
import { inlineValues, type Code, type NamedValue } from "./inlineValues";
import { pickedLines, setLineMarks, type LineNote } from "./lineMarks";
import type { SourceFile } from "./sourceFile";
import { sourceStyles } from "./styles";
import { tokenStyles } from "./tokens";
import { valueHover } from "./valueHover";

const NO_NOTES: ReadonlyMap<number, LineNote> = new Map();
const NO_VALUES: ReadonlyMap<string, NamedValue> = new Map();
const QUOTED = /string|comment/i;

@customElement("dragoman-source")
export class DragomanSource extends LitElement {
  @property({ attribute: false }) text: SourceFile | null = null;
  /** Without a list there are no breakpoints, only line numbers. */
  @property({ attribute: false }) breakpoints: BreakpointList | null = null;
  @property({ type: Number }) current = 0;
  @property({ type: Boolean }) isTop = true;
  /** Whether there is a debugger that could have bound breakpoints. */
  @property({ type: Boolean }) isLive = false;
  @property({ attribute: false }) revealed = { line: 0, times: 0 };
  /** What the variables hold where the program stands. */
  @property({ attribute: false }) values: FrameValues | null = null;
  /** Words at the ends of lines. */
  @property({ attribute: false }) notes = NO_NOTES;
  @state() private edited: EditedBreakpoint | null = null;
  @state() private picked: [number, number] | null = null;
  @query("#editor") private box!: HTMLElement;
  private view: EditorView | null = null;
  private readonly language = new Compartment();
  private shownFile: SourceFile | null = null;
  private readonly shownPages = new Map<number, readonly string[]>();
  private shownMarks = "";
  private shownLines = "";
  private shownValues: ReadonlyMap<string, NamedValue> = NO_VALUES;
  private reached = "";
  /** Whether any of it has its colours. */
  private isParsed = false;
  private endParsing = () => {};
  private readonly sizes = new ResizeObserver(() => this.requestUpdate());

  override connectedCallback(): void {
    super.connectedCallback();
    this.sizes.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.sizes.disconnect();
    this.endParsing();
  }

  override render() {
    const words = !this.text ? t("Open a file, or start a configuration.") : this.text.error;
    return html`<p class="empty" ?hidden=${!words}>${words}</p>
      <div id="editor" ?hidden=${words !== ""}></div>
      ${this.asking()} ${this.breakpoints ? this.form(this.breakpoints) : nothing}`;
  }

  private form(breakpoints: BreakpointList) {
    return html`<dragoman-breakpoint-form
      .list=${breakpoints}
      .all=${breakpoints.all}
      .edited=${this.edited}
      .isLive=${this.isLive}
      @closed=${() => (this.edited = null)}
    ></dragoman-breakpoint-form>`;
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (!changed.has("text")) return;
    (changed.get("text") as SourceFile | null)?.removeEventListener("changed", this.linesChanged);
    this.text?.addEventListener("changed", this.linesChanged);
  }

  private readonly linesChanged = () => this.requestUpdate();

  protected override updated(changed: PropertyValues): void {
    if (!this.text?.total || this.text.error) return;
    this.view ??= new EditorView({ parent: this.box, root: this.renderRoot as ShadowRoot });
    if (this.text !== this.shownFile) this.showFile(this.view, this.text);
    else this.syncFile(this.view, this.text);
    this.showMarks(this.view);
    this.showLines(this.view, changed);
    this.reveal(this.view, changed);
  }

  private showFile(view: EditorView, text: SourceFile): void {
    this.shownFile = text;
    this.isParsed = false;
    this.shownPages.clear();
    for (const [page, lines] of text.pages) this.shownPages.set(page, lines);
    [this.shownMarks, this.shownLines] = ["", ""];
    view.setState(EditorState.create({ doc: documentOf(text), extensions: this.extensions(text) }));
    // Screen readers press its buttons as well.
    view.dom.querySelector(".cm-gutters")?.removeAttribute("aria-hidden");
    void this.parse(view, text);
  }

  private syncFile(view: EditorView, text: SourceFile): void {
    let isChanged = false;
    for (let change = this.change(view, text); change; change = this.change(view, text)) {
      view.dispatch(change);
      isChanged = true;
    }
    if (isChanged) void this.parse(view, text);
  }

  private change(view: EditorView, text: SourceFile) {
    return syncWith(view.state, text, this.shownPages);
  }

  /** Its beginning at once, and all of it when all is there: a string may begin far above the lines in sight. */
  private async parse(view: EditorView, text: SourceFile): Promise<void> {
    const language = languageOf(text.path);
    if (!language || !text.linesFromTop || (this.isParsed && !text.isComplete)) return;
    await loadParsers();
    if (text !== this.shownFile) return;
    this.isParsed = true;
    this.endParsing();
    const { doc } = view.state;
    const end = doc.line(Math.max(1, Math.min(text.linesFromTop, doc.lines))).to;
    this.endParsing = parseInBackground(loadedParser(language)!, doc.slice(0, end), (tree) => {
      view.dispatch({ effects: this.language.reconfigure(languageWith(tree)) });
      this.shownLines = ""; // which names are in strings is known now
      this.requestUpdate();
    });
  }

  private extensions(text: SourceFile) {
    const keys = [
      { key: "F9", run: () => (this.toggleAtCursor(), true), preventDefault: true, stopPropagation: true },
      { key: "Shift-F9", run: () => (this.editAtCursor(), true), preventDefault: true, stopPropagation: true },
      { key: "Alt-Shift-a", run: () => this.ask(), preventDefault: true, stopPropagation: true },
    ];
    return [
      Prec.high(keymap.of(keys)),
      breakpointGutter(this.gutterActions(text)),
      editorSetup(),
      valueHover({
        find: async (path) => (this.current ? (this.values?.find(path, languageOf(text.path)) ?? null) : null),
        load: (...page) => this.values!.load(...page),
      }),
      this.language.of(languageWith(Tree.empty)),
      EditorView.contentAttributes.compute(["selection"], (state) => ({
        "aria-label": text.path,
        "data-about": pickedLines(state) ? "" : `${text.path}:${state.doc.lineAt(state.selection.main.head).number}`,
      })),
      EditorView.updateListener.of(({ selectionSet, viewportChanged, view }) => {
        if (selectionSet) this.picked = pickedLines(view.state);
        if (viewportChanged) text.want(view.state.doc.lineAt(view.viewport.from).number - 1);
      }),
    ];
  }

  private gutterActions(text: SourceFile): GutterActions {
    return {
      hasBreakpoints: this.breakpoints !== null,
      markAt: (line) => this.markAt(text, line),
      toggle: (line) => this.breakpoints?.toggle(text, line),
      edit: (line, at) => (this.edited = { text, line, at }),
    };
  }

  private markAt(text: SourceFile, line: number): LineMark | undefined {
    const pending = text.pendingToggles.get(line);
    const here = this.breakpoints?.allAt(text, line) ?? [];
    const [first] = here;
    if (pending === false || (!first && !pending)) return undefined;
    if (!first) return { classes: "mark person waiting", title: "", isSet: true };
    const title = here.map((it) => breakpointTitle(it, this.isLive)).join("\n");
    return { classes: markClasses(first, this.isLive), title, isSet: true };
  }

  private showMarks(view: EditorView): void {
    const text = this.shownFile!;
    const lines = this.breakpoints?.linesOf(text) ?? [];
    const marks = JSON.stringify(lines.map((line) => [line, this.markAt(text, line)]));
    if (marks === this.shownMarks) return;
    this.shownMarks = marks;
    view.dispatch({ effects: marksChanged.of(null) });
  }

  private showLines(view: EditorView, changed: PropertyValues): void {
    const { current, isTop, notes } = this;
    const lines = `${current} ${isTop} ${view.state.doc.lines}`;
    const locals = this.values?.locals ?? NO_VALUES;
    if (lines === this.shownLines && locals === this.shownValues && !changed.has("notes")) return;
    [this.shownLines, this.shownValues] = [lines, locals];
    const isThere = current > 0 && current <= view.state.doc.lines;
    const values = isThere ? inlineValues(codeOf(view.state), current, locals) : new Map();
    view.dispatch({ effects: setLineMarks.of({ current, isTop, notes, values }) });
  }

  /** Lines are counted before they are read, so a place far down is reached at once. */
  private reveal(view: EditorView, changed: PropertyValues): void {
    const key = `${this.text?.path}:${this.revealed.times}`;
    if (key === this.reached || !this.clientHeight) return;
    this.reached = key;
    const { line } = this.revealed;
    if (!line) return;
    const { from } = view.state.doc.line(Math.min(line, view.state.doc.lines));
    const { scrollTop, clientHeight } = view.scrollDOM;
    const { top, height } = view.lineBlockAt(from);
    const isInSight = top > scrollTop + height && top < scrollTop + clientHeight - 3 * height;
    const effects =
      isInSight && !changed.has("text")
        ? []
        : EditorView.scrollIntoView(from, { y: "start", yMargin: clientHeight / 3 });
    view.dispatch({ selection: EditorSelection.cursor(from), effects });
  }

  toggleAtCursor(): void {
    if (!this.view || !this.shownFile) return;
    this.breakpoints?.toggle(this.shownFile, this.view.state.doc.lineAt(this.view.state.selection.main.head).number);
  }

  /** The form of the line with the cursor. */
  editAtCursor(): void {
    const { view, shownFile: text } = this;
    if (!view || !text || !this.breakpoints) return;
    const { head } = view.state.selection.main;
    const at = view.coordsAtPos(head) ?? view.dom.getBoundingClientRect();
    const rect = new DOMRect(at.left, at.top, 0, at.bottom - at.top);
    this.edited = { text, line: view.state.doc.lineAt(head).number, at: rect };
  }

  private asking() {
    const [from, to] = this.picked ?? [0, 0];
    return html`<p class="asking" role="status"
      >${
        from && chatQuote.isThere
          ? html`<button class="primary" aria-keyshortcuts="Alt+Shift+A" title="Alt+Shift+A" @click=${this.ask}
              >${t("Ask about lines {from} to {to}", { from, to })}</button
            >`
          : nothing
      }</p
    >`;
  }

  private ask(): boolean {
    const { view, picked, text } = this;
    if (!view || !picked) return false;
    const [from, to] = picked;
    const { doc } = view.state;
    view.dispatch({ selection: EditorSelection.cursor(view.state.selection.main.head) });
    chatQuote.ask(doc.sliceString(doc.line(from).from, doc.line(to).to), `${text?.path}:${from}-${to}`);
    return true;
  }

  static override styles = [sharedStyles, tokenStyles, markStyles, sourceStyles];
}

function codeOf(state: EditorState): Code {
  return {
    line: (number) => state.doc.line(number).text,
    isQuoted: (number, column) =>
      QUOTED.test(syntaxTree(state).resolveInner(state.doc.line(number).from + column, 1).name),
  };
}
