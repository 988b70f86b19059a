/** Messages that may not have arrived. Each is kept with its key, so that sending it again cannot run it twice. */
const storageKey = (key: string) => `sending ${key}`;

export interface Unsent {
  text: string;
  /** The run's id: a gateway that receives it twice knows that it is the same message. */
  id: string;
  /** Its text is in the input again, to be sent or changed. */
  isGivenBack: boolean;
}

export const outbox = {
  put(key: string, unsent: Unsent): void {
    sessionStorage.setItem(storageKey(key), JSON.stringify(unsent));
  },
  clear(key: string): void {
    sessionStorage.removeItem(storageKey(key));
  },
  kept(key: string): Unsent | null {
    const kept = sessionStorage.getItem(storageKey(key));
    try {
      return kept ? (JSON.parse(kept) as Unsent) : null;
    } catch {
      return null; // of an older page: to keep it would be to read nothing here any more
    }
  },
};
