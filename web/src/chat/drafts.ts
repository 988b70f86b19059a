/** Unsent text, by conversation. It survives a reload. */
const storageKey = (key: string) => `draft ${key}`;

export const drafts = {
  of(key: string): string {
    return sessionStorage.getItem(storageKey(key)) ?? "";
  },
  put(key: string, text: string): void {
    if (text) sessionStorage.setItem(storageKey(key), text);
    else sessionStorage.removeItem(storageKey(key));
  },
  /** Inserted before text that was written in the meantime, which stays. */
  putBefore(key: string, text: string): void {
    const written = this.of(key);
    this.put(key, written ? `${text.trimEnd()}\n\n${written}` : text);
  },
};
