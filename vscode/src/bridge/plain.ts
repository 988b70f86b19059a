/** What others say, as it may stand in a notification: nothing in it is a link, nothing is hidden, nothing is cut off. */

/** An editor shows no more than a thousand characters of a notification. */
export const SHOWN_WHOLE = 900;

/** Letters that are joined, or not, stay as they are.
 * In a notification `[words](command:…)` is a link that runs a command at a click, past every question of ours. */
export function plain(text: string): string {
  return text.replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped).replaceAll("](", "]\u200b(");
}

function escaped(character: string): string {
  return /\s/.test(character) ? " " : `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
