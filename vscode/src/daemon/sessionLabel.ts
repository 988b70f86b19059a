/** Localized sentences for modules without an editor: a template and its values. */
import type { LiveSession } from "./status";

export type Translate = (template: string, ...values: (string | number)[]) => string;

/** What runs in the server, by kind. */
export function sessionLabel({ kind, title }: LiveSession, t: Translate): string {
  if (kind === "debug") return t("debugging {0}", title);
  return kind === "terminal" ? t("terminal {0}", title) : `${kind} ${title}`;
}
