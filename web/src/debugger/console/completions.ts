/** Completions of what is typed in the console, where the debug adapter has them. */
import { post } from "../../link";

export interface Completion {
  label: string;
  text: string;
  /** How many characters before the cursor it replaces; 0: the word that ends there. */
  replaces: number;
}

export async function completions(session: string, frame: number, text: string, column: number): Promise<Completion[]> {
  const { completions: found } = await post<{ completions: Completion[] }>("/api/debug/completions", {
    session,
    frame,
    text,
    column,
  });
  return found;
}

/** The text with a completion in it, and where the cursor is then. */
export function completed(text: string, column: number, { text: added, replaces }: Completion): [string, number] {
  const before = text.slice(0, column);
  const begin = column - (replaces || (/[\p{L}\p{N}_$]*$/u.exec(before)?.[0].length ?? 0));
  return [text.slice(0, begin) + added + text.slice(column), begin + added.length];
}
