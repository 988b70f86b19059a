/** The value of what is pointed at, in a card that opens further. */
import { StateEffect, StateField, type Extension } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { hoverTooltip, keymap, showTooltip, type Tooltip } from "@codemirror/view";
import type { Load, VariableNode } from "../debugger/variables/variableTree";
import "../debugger/variables/variableTree";
import { t } from "../link";
import { pathAt, type ValuePath } from "./valuePath";

export interface ValueSource {
  find(path: ValuePath): Promise<VariableNode | null>;
  load: Load;
}

const HOVER_MS = 250;

export function valueHover(source: ValueSource): Extension {
  const showCard = StateEffect.define<Tooltip | null>();
  const card = StateField.define<Tooltip | null>({
    create: () => null,
    update(shown, { effects, selection, docChanged }) {
      const effect = effects.findLast((it) => it.is(showCard));
      return effect ? (effect.value as Tooltip | null) : selection || docChanged ? null : shown;
    },
    provide: (field) => showTooltip.from(field),
  });
  const showAtCursor = (view: EditorView) => {
    void tooltipAt(view, view.state.selection.main.head, source).then((it) =>
      view.dispatch({ effects: showCard.of(it) }),
    );
    return true;
  };
  const hide = (view: EditorView) => {
    if (!view.state.field(card)) return false;
    view.dispatch({ effects: showCard.of(null) });
    return true;
  };
  return [
    hoverTooltip((view, position) => tooltipAt(view, position, source), { hoverTime: HOVER_MS }),
    card,
    keymap.of([
      { key: "Mod-k Mod-i", run: showAtCursor, preventDefault: true },
      { key: "Escape", run: hide },
    ]),
  ];
}

async function tooltipAt(view: EditorView, position: number, source: ValueSource): Promise<Tooltip | null> {
  const path = pathIn(view, position);
  const node = path && (await source.find(path).catch(() => null));
  if (!path || !node) return null;
  const { from } = view.state.doc.lineAt(position);
  return {
    pos: from + path.from,
    end: from + path.to,
    above: true,
    create: () => ({ dom: cardOf(node, source.load) }),
  };
}

/** What is chosen there, if it is a path; else what is pointed at. */
function pathIn(view: EditorView, position: number): ValuePath | null {
  const { from, text } = view.state.doc.lineAt(position);
  const { main } = view.state.selection;
  const isChosen = !main.empty && main.from >= from && main.from <= position && position <= main.to;
  const whole = isChosen ? pathAt(text, main.to - 1 - from) : null;
  return whole?.from === main.from - from && whole.to === main.to - from ? whole : pathAt(text, position - from);
}

function cardOf(node: VariableNode, load: Load): HTMLElement {
  const card = document.createElement("div");
  card.className = "card";
  const values = document.createElement("dragoman-values");
  Object.assign(values, {
    roots: [node],
    load,
    label: t("Value of {name}", { name: node.name }),
    expandsFirst: true,
    rowsAtMost: 10,
  });
  card.append(values);
  return card;
}
