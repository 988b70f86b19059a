/** What a piece of code is: one set of classes and colours for the editor and for every block of code. */
import { tagHighlighter, tags as t } from "@lezer/highlight";
import { css } from "lit";

export const tokenClasses = tagHighlighter([
  {
    tag: [t.keyword, t.operatorKeyword, t.controlKeyword, t.definitionKeyword, t.moduleKeyword, t.modifier, t.self],
    class: "tok-keyword",
  },
  { tag: [t.comment, t.lineComment, t.blockComment, t.docComment], class: "tok-comment" },
  { tag: [t.string, t.docString, t.character, t.attributeValue, t.special(t.string)], class: "tok-string" },
  { tag: [t.regexp, t.escape, t.link, t.url], class: "tok-escape" },
  { tag: [t.number, t.integer, t.float, t.bool, t.null, t.atom, t.unit, t.literal], class: "tok-number" },
  {
    tag: [
      t.function(t.variableName),
      t.function(t.propertyName),
      t.function(t.definition(t.variableName)),
      t.macroName,
    ],
    class: "tok-function",
  },
  {
    tag: [t.typeName, t.className, t.namespace, t.standard(t.variableName), t.standard(t.name), t.tagName],
    class: "tok-type",
  },
  { tag: [t.propertyName, t.attributeName, t.labelName], class: "tok-property" },
  { tag: [t.meta, t.annotation, t.processingInstruction, t.documentMeta], class: "tok-meta" },
  { tag: t.inserted, class: "tok-inserted" },
  { tag: t.deleted, class: "tok-deleted" },
  { tag: t.invalid, class: "tok-invalid" },
]);

export const tokenStyles = css`
  .tok-keyword {
    color: var(--code-keyword);
  }
  .tok-comment {
    color: var(--code-comment);
    font-style: italic;
  }
  .tok-string {
    color: var(--code-string);
  }
  .tok-escape {
    color: var(--code-escape);
  }
  .tok-number {
    color: var(--code-number);
  }
  .tok-function {
    color: var(--code-function);
  }
  .tok-type {
    color: var(--code-type);
  }
  .tok-property {
    color: var(--code-property);
  }
  .tok-meta {
    color: var(--code-meta);
  }
  .tok-inserted {
    color: var(--good);
  }
  .tok-deleted,
  .tok-invalid {
    color: var(--bad);
  }
`;
