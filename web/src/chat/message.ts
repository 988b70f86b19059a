/** One message: its words, and what was done on the way, folded. */
import { html, nothing } from "lit";
import { guard } from "lit/directives/guard.js";
import { withInlineCode } from "../app/inlineCode";
import { t } from "../link";
import { timeOfDay } from "../parts/time";
import { diffLines } from "../parts/diff";
import { markdown } from "../parts/markdown";
import { actorName } from "../parts/actors";
import { approvals } from "./approvals";
import type { DiffPart, Part, ChatMessage, ToolPart } from "./conversation";

const SIGNS = { running: "…", done: "✓", failed: "✕" };
const STATES = {
  running: "running",
  done: "done",
  failed: "failed",
};
const SHOWN = 100_000;
const ENDS: Partial<Record<ChatMessage["state"], string>> = {
  aborted: "Stopped.",
  failed: "This failed.",
  unanswered: "No answer: the daemon stopped first, or never received the question.",
};

export function message(chatMessage: ChatMessage, retry: () => void) {
  const speaker =
    chatMessage.role === "user"
      ? actorName(chatMessage.by || "page")
      : chatMessage.by
        ? actorName(chatMessage.by)
        : t("Agent");
  return html`<article
    class=${chatMessage.role}
    aria-label=${speaker}
    data-about=${chatMessage.role === "user" ? t("your question") : t("the agent's answer")}
  >
    <div class="who quiet"
      >${speaker}${chatMessage.atMs ? html` <time>${timeOfDay(chatMessage.atMs)}</time>` : nothing}</div
    >
    ${chatMessage.parts.map((part) => DRAW[part.kind](part as never, chatMessage))}
    ${chatMessage.state === "running" ? html`<span class="going" role="status">${isAwaitingApproval(chatMessage) ? t("waiting for your answer below") : t("working…")}</span>` : nothing}
    ${chatMessage.state in ENDS ? html`<p class=${chatMessage.state === "failed" ? "bad" : "quiet"}>${chatMessage.reason ? withInlineCode(chatMessage.reason) : t(ENDS[chatMessage.state]!)} <button @click=${retry}>${t("Try again")}</button></p>` : nothing}
  </article>`;
}

function isAwaitingApproval({ runId }: ChatMessage): boolean {
  return approvals.waiting.some((it) => it.runId === runId);
}

const DRAW: { [K in Part["kind"]]: (part: Extract<Part, { kind: K }>, chatMessage: ChatMessage) => unknown } = {
  text: ({ text }, { role }) =>
    role === "user"
      ? html`<div class="words">${text}</div>`
      : html`<div class="prose">${guard([text], () => markdown(text))}</div>`,
  tool,
  diff,
};

function tool({ name, title, input, output, state, startedMs, endedMs }: ToolPart) {
  const took = Number.isNaN(endedMs) ? "" : toolDuration(endedMs - startedMs);
  return html`<details class="tool ${state}">
    <summary
      ><span class="sign" aria-hidden="true">${SIGNS[state]}</span> <span class="unseen">${t(STATES[state])}</span>
      <b>${name}</b> ${title && title !== name ? html`<span class="title">${title}</span>` : nothing}
      <span class="quiet">${truncated(input)} ${took}</span></summary
    >
    <pre>${JSON.stringify(input ?? {}, null, 2)}</pre>
    ${output ? html`<pre>${output.slice(0, SHOWN)}${output.length > SHOWN ? `\n${t("[{count} more characters]", { count: output.length - SHOWN })}` : nothing}</pre>` : nothing}
  </details>`;
}

function toolDuration(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function truncated(input: unknown): string {
  const text = Object.values(input ?? {})
    .map((value) => (typeof value === "object" ? JSON.stringify(value) : String(value)))
    .join(" ");
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function diff({ path, original, modified }: DiffPart) {
  const changed = () => diffLines(original, modified).filter(({ kind }) => kind !== "same");
  return html`<details class="tool diff" open
    ><summary>± <b>${path}</b></summary>
    ${guard([original, modified], () => changed().map(({ kind, text }) => html`<div class="line ${kind}">${kind === "added" ? "+" : "−"} ${text}</div>`))}
  </details>`;
}
