/** What a person chose and keeps. The page's origin is new at each start of the daemon, so the daemon keeps it. */
import type { Chosen } from "../i18n/t";
import { ask, post } from "./calls";

interface Preferences {
  language: Chosen;
  watches: string[];
}

/** Counts for every tab, from its next load on. */
export async function keepLanguage(language: Chosen): Promise<void> {
  await post<Preferences>("/api/preferences/change", { language });
  location.reload();
}

export async function keptWatches(): Promise<string[]> {
  return (await ask<Preferences>("/api/preferences")).watches;
}

export async function keepWatches(watches: string[]): Promise<void> {
  await post<Preferences>("/api/preferences/change", { watches });
}
