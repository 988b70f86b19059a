/** The title of a debug session for people and agents. */

/** js-debug writes what a session came from behind a sign of its own: "app.js [7] « Node app". */
export function sessionTitle({ name }: { name: string }): string {
  const [own = "", ...from] = name.split(/\s+«\s+/);
  return from.length ? `${own} (${from.join(", ")})` : own;
}
