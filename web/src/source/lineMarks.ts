/** What is shown on whole lines: where the program stands, which lines are chosen, and words at the ends of lines. */
import { RangeSetBuilder, StateEffect, StateField, type EditorState, type Extension } from "@codemirror/state";
import { Decoration, EditorView, WidgetType, type DecorationSet } from "@codemirror/view";

/** Words at the end of a line. `kind` is a class: `value`, `info`, `good`, `warn` or `bad`. */
export interface LineNote {
  text: string;
  kind: string;
}

export interface InlineValue {
  text: string;
  isChanged: boolean;
}

export interface LineMarks {
  /** Where the program stands; 0 if not in this file. */
  current: number;
  /** False for a caller: its line is not the next one to run. */
  isTop: boolean;
  notes: ReadonlyMap<number, LineNote>;
  values: ReadonlyMap<number, readonly InlineValue[]>;
}

const MOST_PICKED = 2000;

class EndOfLine extends WidgetType {
  constructor(
    private readonly values: readonly InlineValue[],
    private readonly note: LineNote | undefined,
  ) {
    super();
  }

  override eq(other: EndOfLine): boolean {
    return JSON.stringify([other.values, other.note]) === JSON.stringify([this.values, this.note]);
  }

  override toDOM(): HTMLElement {
    const all = document.createElement("span");
    all.className = "ends";
    for (const { text, isChanged } of this.values) all.append(word(text, isChanged ? "value changed" : "value"));
    if (this.note) all.append(word(this.note.text, `note ${this.note.kind}`));
    return all;
  }
}

function word(text: string, classes: string): HTMLElement {
  const element = document.createElement("span");
  element.className = classes;
  element.textContent = text;
  return element;
}

const CURRENT = Decoration.line({ class: "current", attributes: { "aria-current": "step" } });
const CALLER = Decoration.line({ class: "caller", attributes: { "aria-current": "step" } });
const PICKED = Decoration.line({ class: "picked" });

export const setLineMarks = StateEffect.define<LineMarks>();

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(decorations, { effects, changes, state }) {
    const marks = effects.findLast((effect) => effect.is(setLineMarks))?.value as LineMarks | undefined;
    return marks ? decorationsOf(state, marks) : decorations.map(changes);
  },
  provide: (of) => EditorView.decorations.from(of),
});

function decorationsOf(state: EditorState, { current, isTop, notes, values }: LineMarks): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  const lines = [...new Set([current, ...notes.keys(), ...values.keys()])].sort((one, other) => one - other);
  for (const number of lines) {
    if (number < 1 || number > state.doc.lines) continue;
    const { from, to } = state.doc.line(number);
    if (number === current) builder.add(from, from, isTop ? CURRENT : CALLER);
    if (!notes.has(number) && !values.has(number)) continue;
    const widget = new EndOfLine(values.get(number) ?? [], notes.get(number));
    builder.add(to, to, Decoration.widget({ widget, side: 1 }));
  }
  return builder.finish();
}

/** The first and the last line of a selection over several; null for less. */
export function pickedLines(state: EditorState): [number, number] | null {
  const { from, to } = state.selection.main;
  const lines: [number, number] = [state.doc.lineAt(from).number, state.doc.lineAt(to).number];
  return lines[0] < lines[1] ? lines : null;
}

const picked = EditorView.decorations.compute(["selection", "doc"], (state) => {
  const [first, last] = pickedLines(state) ?? [1, 0];
  if (last - first > MOST_PICKED) return Decoration.none;
  const builder = new RangeSetBuilder<Decoration>();
  for (let line = first; line <= last; line++)
    builder.add(state.doc.line(line).from, state.doc.line(line).from, PICKED);
  return builder.finish();
});

export const lineMarks: Extension = [field, picked];
