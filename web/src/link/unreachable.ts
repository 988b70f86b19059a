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

/** For data that is read again after a reconnect: a failure now is not an error. */
export function ignoreUnreachable(error: unknown): void {
  if (!(error instanceof Unreachable)) throw error;
}
