/** Brings the editor's document to what was read of a file, line by line: nothing that stayed the same is replaced. */
import { EditorSelection, Text, type EditorState, type TransactionSpec } from "@codemirror/state";
import { LINES_PER_PAGE, type SourceFile } from "./sourceFile";

type Pages = Map<number, readonly string[]>;

/** Lines that have not arrived are empty: a place far down is reached at once. */
export function documentOf(file: SourceFile): Text {
  const lines = Array.from({ length: Math.max(1, file.total) }, (_, index) => file.line(index) ?? "");
  return Text.of(lines);
}

/** What has to change, and the cursor where it was: on the line with the same number. */
export function syncWith(state: EditorState, file: SourceFile, shown: Pages): TransactionSpec | null {
  const changes = [...lengthChange(state.doc, file.total), ...pageChanges(state.doc, file, shown)];
  if (!changes.length) return null;
  const set = state.changes(changes);
  const after = set.apply(state.doc);
  const moved = (position: number) => {
    const line = state.doc.lineAt(position);
    const target = after.line(Math.min(line.number, after.lines));
    return Math.min(target.from + position - line.from, target.to);
  };
  const { anchor, head } = state.selection.main;
  return { changes: set, selection: EditorSelection.single(moved(anchor), moved(head)) };
}

interface Change {
  from: number;
  to: number;
  insert?: Text;
}

function lengthChange(doc: Text, total: number): Change[] {
  const lines = Math.max(1, total);
  if (doc.lines > lines) return [{ from: doc.line(lines).to, to: doc.length }];
  const added = Array.from({ length: lines - doc.lines + 1 }, () => "");
  return doc.lines < lines ? [{ from: doc.length, to: doc.length, insert: Text.of(added) }] : [];
}

/** Only of lines that are there already; lines that were just added get their text the next time. */
function pageChanges(doc: Text, file: SourceFile, shown: Pages): Change[] {
  const changes: Change[] = [];
  for (const [page, lines] of file.pages) {
    if (shown.get(page) === lines) continue;
    const start = page * LINES_PER_PAGE;
    if (start + lines.length > doc.lines) continue;
    const isSame = (index: number) => doc.line(start + index + 1).text === lines[index];
    let [first, end] = [0, lines.length];
    while (first < end && isSame(first)) first++;
    while (end > first && isSame(end - 1)) end--;
    if (first < end)
      changes.push({
        from: doc.line(start + first + 1).from,
        to: doc.line(start + end).to,
        insert: Text.of(lines.slice(first, end)),
      });
    shown.set(page, lines);
  }
  return changes.sort((one, other) => one.from - other.from);
}
