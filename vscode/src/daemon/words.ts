/** What is said to a person, by modules that know of no editor: a sentence and its values, in the person's language. */
import type { Life } from "./status";

export type Words = (template: string, ...values: (string | number)[]) => string;

/** What lives in the server, by its kind. */
export function named({ kind, title }: Life, t: Words): string {
  if (kind === "debug") return t("debugging {0}", title);
  return kind === "terminal" ? t("terminal {0}", title) : `${kind} ${title}`;
}
