/** Markdown from agents: no HTML of theirs, nothing loaded from anywhere. */
import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";

const LONGEST = 200_000;
const reader = new MarkdownIt({ html: false, linkify: false, typographer: false });
reader.renderer.rules.image = (tokens, index) => `[${reader.utils.escapeHtml(tokens[index]?.content ?? "")}]`;
/** A style in an element is refused by the page's policy, so how a column is aligned is said by a class. */
const ALIGNED = /^aligned-(left|center|right)$/;
for (const rule of ["th_open", "td_open"]) {
  reader.renderer.rules[rule] = (tokens, index, options, _, renderer) => {
    const token = tokens[index]!;
    const [, side] = /^text-align:(left|center|right)$/.exec(token.attrGet("style") ?? "") ?? [];
    token.attrs = side ? [["class", `aligned-${side}`]] : null;
    return renderer.renderToken(tokens, index, options);
  };
}
const ALLOWED = {
  ALLOWED_TAGS: [
    "p",
    "br",
    "hr",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "li",
    "blockquote",
    "pre",
    "code",
    "em",
    "strong",
    "s",
    "a",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
  ],
  ALLOWED_ATTR: ["href", "start", "class"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
} as const;

export function markdown(source: string): DocumentFragment {
  const cut = source.length > LONGEST ? `${source.slice(0, LONGEST)}…` : source;
  const made = DOMPurify.sanitize(reader.render(cut), {
    ...ALLOWED,
    ALLOWED_TAGS: [...ALLOWED.ALLOWED_TAGS],
    ALLOWED_ATTR: [...ALLOWED.ALLOWED_ATTR],
  });
  for (const it of made.querySelectorAll("[class]")) if (!ALIGNED.test(it.className)) it.removeAttribute("class");
  for (const link of made.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    link.title = link.href; // what it says and where it leads may differ
  }
  return made;
}
