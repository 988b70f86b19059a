/** Texts with lines: source, differences, what a terminal showed. */
import { html, nothing } from "lit";
import { t } from "../../link";
import { terminal, type AnsiRun } from "../../parts/ansi";
import { diffLines, type DiffLine } from "../../parts/diff";
import { scrollBox } from "../../parts/scrollBox";
import { define } from "../model";
import { list, number, textProperty } from "../values";

const LINE = 20;
const TALLEST = 480;
const TERMINAL_LINES = 20_000;
const SIGNS = { same: " ", added: "+", removed: "−" };

function head(title: string, language: string) {
  if (!title && !language) return nothing;
  return html`<div class="title"
    ><span>${title}</span>${language ? html`<span class="quiet">${language}</span>` : nothing}</div
  >`;
}

define(
  "CodeBlock",
  (node, painter) => {
    const lines = textProperty(painter, node, "code").replace(/\n$/, "").split("\n");
    const first = number(node.properties.firstLine, 1);
    const marked = new Set(list(painter.value(node, "marked")).map((line) => number(line, -1)));
    return html`<div class="code">
      ${head(textProperty(painter, node, "title"), textProperty(painter, node, "language"))}
      ${scrollBox(
        lines,
        LINE,
        TALLEST,
        (line, index) =>
          html`<div class="line ${marked.has(first + index) ? "marked" : ""}"
            ><span class="no">${first + index}</span><span>${line}</span></div
          >`,
        { label: textProperty(painter, node, "title") || t("Code") },
      )}
    </div>`;
  },
  { fills: true },
);

define(
  "Diff",
  (node, painter) => {
    const path = textProperty(painter, node, "path");
    const texts = [textProperty(painter, node, "original"), textProperty(painter, node, "modified")] as const;
    const memory = painter.memory(node, { of: ["", ""] as readonly string[], lines: [] as DiffLine[] });
    if (memory.of[0] !== texts[0] || memory.of[1] !== texts[1])
      Object.assign(memory, { of: texts, lines: diffLines(...texts) });
    const isNew = painter.value(node, "original") === undefined || painter.value(node, "original") === null;
    const decide = (accepted: boolean) => painter.act(node, { path, accepted });
    return html`<div class="code">
      ${head(`${path}${isNew ? ` (${t("new")})` : ""}`, textProperty(painter, node, "language"))}
      ${scrollBox(
        memory.lines,
        LINE,
        TALLEST,
        (line) =>
          html`<div class="line ${line.kind}"
            ><span class="no">${line.before || ""}</span><span class="no">${line.after || ""}</span
            ><span class="sign">${SIGNS[line.kind]}</span><span>${line.text}</span></div
          >`,
        { label: path || t("Difference") },
      )}
      ${
        node.properties.decides === true
          ? html`<div class="foot">
              <button class="primary" aria-disabled=${painter.isBusy} @click=${() => decide(true)}
                >${t("Accept")}</button
              >
              <button aria-disabled=${painter.isBusy} @click=${() => decide(false)}>${t("Reject")}</button>
            </div>`
          : nothing
      }
    </div>`;
  },
  { fills: true },
);

define(
  "Terminal",
  (node, painter) => {
    const text = textProperty(painter, node, "text");
    const memory = painter.memory(node, { of: "\0", lines: [] as AnsiRun[][] });
    if (memory.of !== text)
      Object.assign(memory, { of: text, lines: terminal(text.replace(/\n$/, ""), TERMINAL_LINES) });
    const line = (pieces: AnsiRun[]) =>
      html`<div class="line">${pieces.map(({ text, look }) => html`<span class=${look}>${text}</span>`)}</div>`;
    return html`<div class="code terminal">
      ${head(textProperty(painter, node, "title"), "")}
      ${scrollBox(memory.lines, LINE, LINE * number(node.properties.rows, 24), line, { anchor: "end", label: textProperty(painter, node, "title") || t("Terminal") })}
    </div>`;
  },
  { fills: true },
);
