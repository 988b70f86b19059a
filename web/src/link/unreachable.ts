/**
 * Nobody answered: the daemon is not running, or it ended before it answered. The frame shows it; a caller may show it
 * too.
 */
import { t } from "../i18n/t";

export class Unreachable extends Error {
  constructor(message = t("Dragoman is not running or does not respond.")) {
    super(message);
  }
}

/** For data that is read again after a reconnect: a failure now is not an error. */
export function ignoreUnreachable(error: unknown): void {
  if (!(error instanceof Unreachable)) throw error;
}
