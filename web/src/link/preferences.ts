/** The person's choices. The page's origin is new at each start of the daemon, so the daemon stores them. */
import type { LanguageChoice } from "../i18n/t";
import { request, post } from "./requests";

/** Empty: the system's. */
export type ThemeChoice = "" | "light" | "dark";

export interface Preferences {
  language: LanguageChoice;
  theme: ThemeChoice;
  watches: string[];
  pane_sizes: Record<string, number>;
  folded_panes: string[];
  follows_agent: boolean;
  /** What was typed into the debugger's console, by workspace, the newest last. */
  evaluated: Record<string, string[]>;
}

/** Missing members stay as they are. */
interface PreferenceChange {
  pane_sizes?: Record<string, number>;
  fold?: string;
  unfold?: string;
  follows_agent?: boolean;
  evaluated?: { workspace: string; expression: string };
}

export function savedPreferences(): Promise<Preferences> {
  return request<Preferences>("/api/preferences");
}

export async function changePreferences(change: PreferenceChange): Promise<void> {
  await post<Preferences>("/api/preferences/change", change);
}

/** Counts for every tab, from its next load on. */
export async function saveLanguage(language: LanguageChoice): Promise<void> {
  await post<Preferences>("/api/preferences/change", { language });
  location.reload();
}

/** The theme that the person chose. The daemon serves it with the page, so that the first paint has it. */
export function chosenTheme(): ThemeChoice {
  const kept = document.documentElement.dataset["theme"];
  return kept === "light" || kept === "dark" ? kept : "";
}

export async function saveTheme(theme: ThemeChoice): Promise<void> {
  await post<Preferences>("/api/preferences/change", { theme });
  document.documentElement.dataset["theme"] = theme;
}

export async function savedWatches(): Promise<string[]> {
  return (await savedPreferences()).watches;
}

/** The watch expressions. They are added and removed one by one, so that two tabs do not overwrite each other. */
export async function changeWatches(change: { watch: string } | { unwatch: string }): Promise<string[]> {
  return (await post<Preferences>("/api/preferences/change", change)).watches;
}
