/** What an agent's file tools changed. No gateway reports this, so it is read from the arguments of the calls. */
import type { DiffPart } from "./conversation";

type Json = Record<string, unknown>;

const WRITES = new Set(["write", "write_file", "create_file"]);
const EDITS = new Set(["edit", "edit_file", "multi_edit", "str_replace"]);

export function fileChanges(id: string, tool: string, args: unknown): DiffPart[] {
  const given = (args ?? {}) as Json;
  const path = firstText(given, ["path", "file_path"]);
  if (!path) return [];
  if (WRITES.has(tool.toLowerCase())) {
    const content = firstText(given, ["content"]);
    return content === null ? [] : [{ kind: "diff", id, path, original: "", modified: content }];
  }
  if (!EDITS.has(tool.toLowerCase())) return [];
  const edits = Array.isArray(given.edits) ? (given.edits as Json[]) : [];
  return [given, ...edits].flatMap((edit) => editedPassage(id, path, edit ?? {}));
}

/** One passage, under the names that agents' edit tools use for it. */
function editedPassage(id: string, path: string, edit: Json): DiffPart[] {
  const original = firstText(edit, ["oldText", "old_string", "old"]);
  const modified = firstText(edit, ["newText", "new_string", "new"]);
  return original === null || modified === null ? [] : [{ kind: "diff", id, path, original, modified }];
}

function firstText(from: Json, names: string[]): string | null {
  for (const name of names) if (typeof from[name] === "string") return from[name];
  return null;
}
