import { html } from "lit";

/** A message with the parts between backticks shown as code. */
export function withInlineCode(sentence: string) {
  const pieces = sentence.split("`");
  if (pieces.length % 2 === 0) return sentence; // one that has no partner
  return pieces.map((piece, index) => (index % 2 ? html`<code>${piece}</code>` : piece));
}
