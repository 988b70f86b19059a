/** The editor that only shows: what its keys do, how it searches and folds, and its words in the reader's language. */
import { codeFolding, foldGutter, foldKeymap, foldService, syntaxHighlighting } from "@codemirror/language";
import { standardKeymap } from "@codemirror/commands";
import {
  findNext,
  findPrevious,
  gotoLine,
  openSearchPanel,
  search,
  searchPanelOpen,
  closeSearchPanel,
} from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, type KeyBinding } from "@codemirror/view";
import { t } from "../link";
import { lineMarks } from "./lineMarks";
import { tokenClasses } from "./tokens";

const PHRASES = [
  "Find",
  "next",
  "previous",
  "all",
  "match case",
  "regexp",
  "by word",
  "close",
  "Go to line",
  "go",
  "current match",
  "on line",
  "Folded lines",
  "Unfolded lines",
  "Fold line",
  "Unfold line",
  "folded code",
  "unfold",
  "to",
];

const KEYS: KeyBinding[] = [
  { key: "Mod-f", run: openSearchPanel, scope: "editor search-panel" },
  { key: "F3", run: findNext, shift: findPrevious, scope: "editor search-panel", preventDefault: true },
  { key: "Ctrl-g", run: goToLine, preventDefault: true },
  { key: "Alt-g", run: goToLine, preventDefault: true },
  {
    key: "Escape",
    run: (view) => searchPanelOpen(view.state) && closeSearchPanel(view),
    scope: "editor search-panel",
  },
];

const FURTHEST = 3000;

/** A block is what is indented further than the line above it, in every language. */
const indentedBlocks = foldService.of((state, start) => {
  const first = state.doc.lineAt(start);
  const indent = indentOf(first.text);
  if (indent < 0 || first.number === state.doc.lines) return null;
  let [number, last] = [first.number, 0];
  for (const text of state.doc.iterLines(number + 1, Math.min(state.doc.lines, number + FURTHEST) + 1)) {
    number++;
    const deeper = indentOf(text);
    if (deeper >= 0 && deeper <= indent) break;
    if (deeper > indent) last = number;
  }
  return last ? { from: first.to, to: state.doc.line(last).to } : null;
});

/** In a shadow tree the editor does not notice that its dialog had the focus. */
function goToLine(view: EditorView): boolean {
  const isOpen = gotoLine(view);
  const dialog = view.dom.querySelector(".cm-dialog");
  const focus = () => !dialog?.isConnected && !view.root.activeElement && view.focus();
  // Once the line is in sight: a focus before that would scroll back to where the cursor was drawn.
  const focusBack = () => requestAnimationFrame(() => requestAnimationFrame(focus));
  for (const kind of ["submit", "keydown", "click"]) dialog?.addEventListener(kind, focusBack);
  return isOpen;
}

/** -1 for an empty line, which belongs to the block around it. */
function indentOf(line: string): number {
  return line.search(/\S/);
}

export function editorSetup(): Extension {
  return [
    EditorState.readOnly.of(true),
    EditorState.tabSize.of(4),
    EditorState.phrases.of(Object.fromEntries(PHRASES.map((phrase) => [phrase, t(phrase)]))),
    // A phone must not offer its keyboard for a text that cannot be changed.
    EditorView.contentAttributes.of({ inputmode: "none", spellcheck: "false" }),
    syntaxHighlighting(tokenClasses),
    codeFolding({ placeholderText: "…" }),
    foldGutter({ markerDOM: foldMark }),
    indentedBlocks,
    highlightActiveLine(),
    search({ top: true }),
    lineMarks,
    keymap.of([...KEYS, ...foldKeymap, ...standardKeymap]),
  ];
}

function foldMark(isOpen: boolean): HTMLElement {
  const mark = document.createElement("span");
  mark.className = isOpen ? "fold open" : "fold";
  mark.textContent = isOpen ? "▾" : "▸";
  mark.title = isOpen ? t("Fold line") : t("Unfold line");
  return mark;
}
