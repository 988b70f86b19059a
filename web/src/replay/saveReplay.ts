/** Saves a session as one file that replays itself: the daemon makes it, and the browser asks where to put it. */
import { readText } from "../link";

export async function saveReplay(session: string, name: string): Promise<void> {
  const text = await readText(`/api/replay/file?session=${encodeURIComponent(session)}`);
  const address = URL.createObjectURL(new Blob([text], { type: "text/html" }));
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: fileName(name || session) });
  link.click();
  URL.revokeObjectURL(address);
}

/** Of letters that every system takes. */
export function fileName(name: string): string {
  const plain = name.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|-+$/g, "");
  return `replay-${plain.slice(0, 80) || "session"}.html`;
}
