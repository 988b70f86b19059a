/** What was sent and not yet taken: a reload in between gives it back to whoever wrote it. */
const place = (key: string) => `sending ${key}`;

export const outbox = {
  put(key: string, text: string): void {
    sessionStorage.setItem(place(key), text);
  },
  clear(key: string): void {
    sessionStorage.removeItem(place(key));
  },
  take(key: string): string {
    const text = sessionStorage.getItem(place(key)) ?? "";
    this.clear(key);
    return text;
  },
};
