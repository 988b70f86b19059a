/** What is said to a person, by modules that know of no editor: a sentence and its values, in the person's language. */
import type { LiveSession } from "./status";

export type Translate = (template: string, ...values: (string | number)[]) => string;

/** What lives in the server, by its kind. */
export function sessionLabel({ kind, title }: LiveSession, t: Translate): string {
  if (kind === "debug") return t("debugging {0}", title);
  return kind === "terminal" ? t("terminal {0}", title) : `${kind} ${title}`;
}
