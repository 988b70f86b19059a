/** The person's choices. The page's origin is new at each start of the daemon, so the daemon stores them. */
import type { LanguageChoice } from "../i18n/t";
import { request, post } from "./requests";

interface Preferences {
  language: LanguageChoice;
  watches: string[];
}

/** Counts for every tab, from its next load on. */
export async function saveLanguage(language: LanguageChoice): Promise<void> {
  await post<Preferences>("/api/preferences/change", { language });
  location.reload();
}

export async function savedWatches(): Promise<string[]> {
  return (await request<Preferences>("/api/preferences")).watches;
}

/** The watch expressions. They are added and removed one by one, so that two tabs do not overwrite each other. */
export async function changeWatches(change: { watch: string } | { unwatch: string }): Promise<string[]> {
  return (await post<Preferences>("/api/preferences/change", change)).watches;
}
