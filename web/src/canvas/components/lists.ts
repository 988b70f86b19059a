/** What follows one another: frames of a stack, things that happened; and how far something is. */
import { html, nothing } from "lit";
import { define } from "../model";
import { number, records, textProperty, text } from "../values";

const MOST = 500;

define(
  "StackTrace",
  (node, painter) => {
    const title = textProperty(painter, node, "title");
    const frames = records(painter.value(node, "frames")).slice(0, MOST);
    return html`${title ? html`<div class="title">${title}</div>` : nothing}
      <ol class="frames" start="0"
        >${frames.map((frame, index) => {
          const [file, line] = [text(frame.file), number(frame.line)];
          return html`<li
            ><button
              class="plain ${frame.isOwn === false ? "quiet" : ""}"
              aria-disabled=${painter.isBusy}
              @click=${() => painter.act(node, { index, file, line })}
              ><b>${text(frame.function)}</b> <span class="mono quiet">${file}:${line}</span></button
            ></li
          >`;
        })}</ol
      >`;
  },
  { fills: true },
);

define(
  "Timeline",
  (node, painter) => {
    const items = records(painter.value(node, "items")).slice(0, MOST);
    return html`<ol class="timeline"
      >${items.map(
        (item, index) =>
          html`<li class=${/^(failed|error)$/.test(text(item.state)) ? "failed" : ""}>
            <button class="plain" aria-disabled=${painter.isBusy} @click=${() => painter.act(node, { index })}>
              <time class="mono quiet">${text(item.at)}</time> <b>${text(item.title)}</b>
              ${item.text ? html`<span class="quiet">${text(item.text)}</span>` : nothing}
            </button></li
          >`,
      )}</ol
    >`;
  },
  { fills: true },
);

define(
  "Progress",
  (node, painter) => {
    const value = painter.value(node, "value");
    const state = textProperty(painter, node, "state");
    const sign = { done: "✓", failed: "✕" }[state] ?? "";
    const done = Math.max(0, Math.min(1, number(value)));
    const bar =
      typeof value === "number" ? html`<progress max="1" .value=${done}></progress>` : html`<progress></progress>`;
    return html`<label class="progress ${state}"
      ><span>${textProperty(painter, node, "label")} ${sign}</span>
      ${state === "done" || state === "failed" ? nothing : bar}
      ${typeof value === "number" ? html`<span class="quiet">${Math.round(done * 100)} %</span>` : nothing}</label
    >`;
  },
  { fills: true },
);
