/**
 * What others say, as it may stand in a notification: nothing in it is a link, nothing is hidden, nothing is cut off.
 */

/** An editor shows no more than a thousand characters of a notification. */
export const MAX_NOTIFICATION = 900;

/**
 * Characters that draw nothing: by category, as Unicode's default ignorables, or as the blank of a single script; and
 * marks without a letter, or marks that strike a letter through or enclose it. Joined pictures stay as they are.
 */
const HIDDEN = new RegExp(
  String.raw`(?<!\p{Extended_Pictographic}(?=\u200d\p{Extended_Pictographic}))` +
    String.raw`(?:[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Me}\u0334-\u0338\u20d2\u20d3\u20d8-\u20da\u2800` +
    String.raw`\u{13441}\u{13442}\u{16fe4}\u{1d159}]|(?! )\p{Zs}|(?<![\p{L}\p{N}\p{M}])\p{M})`,
  "gu",
);

/** Longer than code is indented by: what follows would be out of sight. */
const LONG_BLANK = / {40,}/g;

/** For what a person decides on. */
export function escapeHidden(text: string): string {
  return text.replace(HIDDEN, escapeCharacter).replace(LONG_BLANK, (blank) => ` […${blank.length} blank characters…] `);
}

/** In a notification `[words](command:…)` is a link that runs a command at a click, past every question of ours. */
export function notificationText(text: string): string {
  return escapeHidden(text).replaceAll("](", "]\u200b(");
}

function escapeCharacter(character: string): string {
  return /[\t\n\r]/.test(character) ? " " : `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
