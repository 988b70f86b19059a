/** One message: its words, and what was done on the way, folded. */
import { html, nothing } from "lit";
import { guard } from "lit/directives/guard.js";
import { spoken } from "../app/spoken";
import { t } from "../link";
import { timeOfDay } from "../parts/clock";
import { compare } from "../parts/lines";
import { markdown } from "../parts/markdown";
import { who } from "../parts/who";
import { approvals } from "./approvals";
import type { Change, Part, Said, Tool } from "./talk";

const SIGNS = { running: "…", done: "✓", failed: "✕" };
const STATES = {
  running: "running", done: "done", failed: "failed",
};
const SHOWN = 100_000;
const ENDS: Partial<Record<Said["state"], string>> = {
  aborted: "Stopped.", failed: "This failed.", unanswered: "No answer came: the daemon ended before, or was not asked.",
};

export function message(said: Said, retry: () => void) {
  const speaker = said.role === "user" ? who(said.by || "page") : said.by ? who(said.by) : t("Agent");
  return html`<article class=${said.role} aria-label=${speaker} data-about=${said.role === "user" ? t("what was asked") : t("what the agent said")}>
    <div class="who quiet">${speaker}${said.atMs ? html` <time>${timeOfDay(said.atMs)}</time>` : nothing}</div>
    ${said.parts.map((part) => DRAW[part.kind](part as never, said))}
    ${said.state === "running" ? html`<span class="going" role="status">${isAsked(said) ? t("waits for your answer below") : t("working…")}</span>` : nothing}
    ${said.state in ENDS ? html`<p class=${said.state === "failed" ? "bad" : "quiet"}>${said.reason ? spoken(said.reason) : t(ENDS[said.state]!)} <button @click=${retry}>${t("Try again")}</button></p>` : nothing}
  </article>`;
}

function isAsked({ runId }: Said): boolean {
  return approvals.waiting.some((it) => it.runId === runId);
}

const DRAW: { [K in Part["kind"]]: (part: Extract<Part, { kind: K }>, said: Said) => unknown } = {
  text: ({ text }, { role }) =>
    role === "user" ? html`<div class="words">${text}</div>` : html`<div class="prose">${guard([text], () => markdown(text))}</div>`,
  tool,
  diff,
};

function tool({ name, title, input, output, state, startedMs, endedMs }: Tool) {
  const took = Number.isNaN(endedMs) ? "" : lasted(endedMs - startedMs);
  return html`<details class="tool ${state}">
    <summary><span class="sign" aria-hidden="true">${SIGNS[state]}</span> <span class="unseen">${t(STATES[state])}</span> <b>${name}</b> ${title && title !== name ? html`<span class="title">${title}</span>` : nothing} <span class="quiet">${brief(input)} ${took}</span></summary>
    <pre>${JSON.stringify(input ?? {}, null, 2)}</pre>
    ${output ? html`<pre>${output.slice(0, SHOWN)}${output.length > SHOWN ? `\n${t("[{count} characters more]", { count: output.length - SHOWN })}` : nothing}</pre>` : nothing}
  </details>`;
}

function lasted(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function brief(input: unknown): string {
  const text = Object.values((input ?? {}) as object).map((value) => (typeof value === "object" ? JSON.stringify(value) : String(value))).join(" ");
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function diff({ path, original, modified }: Change) {
  const changed = () => compare(original, modified).filter(({ kind }) => kind !== "same");
  return html`<details class="tool diff" open><summary>± <b>${path}</b></summary>
    ${guard([original, modified], () => changed().map(({ kind, text }) => html`<div class="line ${kind}">${kind === "added" ? "+" : "−"} ${text}</div>`))}
  </details>`;
}
