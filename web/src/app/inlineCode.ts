import { html } from "lit";

/** A sentence of ours or of the daemon's, with what stands between backticks as it would be typed. */
export function withInlineCode(sentence: string) {
  const pieces = sentence.split("`");
  if (pieces.length % 2 === 0) return sentence; // one that has no partner
  return pieces.map((piece, index) => (index % 2 ? html`<code>${piece}</code>` : piece));
}
