/**
 * Nobody answered: the daemon is not there, or went away before it did. The frame says so; whoever asked may say it
 * too.
 */
import { t } from "../i18n/t";

export class Unreachable extends Error {
  constructor(message = t("Dragoman is not running or does not respond.")) {
    super(message);
  }
}

/** For what is read anew when the connection is back: that it failed now is no fault. */
export function ignoreUnreachable(error: unknown): void {
  if (!(error instanceof Unreachable)) throw error;
}
