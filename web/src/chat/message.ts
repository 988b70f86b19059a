/** One message: its words, and what was done on the way, folded. */
import { html, nothing } from "lit";
import { guard } from "lit/directives/guard.js";
import { t } from "../link";
import { compare } from "../parts/lines";
import { markdown } from "../parts/markdown";
import type { Change, Part, Said, Tool } from "./talk";

const SIGNS = { running: "…", done: "✓", failed: "✕" };
const SHOWN = 100_000;

export function message(said: Said, retry: () => void) {
  const who = said.role === "user" ? t("You") : t("Agent");
  return html`<article class=${said.role} aria-label=${who}>
    <div class="who quiet">${who}${said.atMs ? html` <time>${new Date(said.atMs).toLocaleTimeString()}</time>` : nothing}</div>
    ${said.parts.map((part) => DRAW[part.kind](part as never, said))}
    ${said.state === "running" ? html`<span class="going" role="status">${t("working…")}</span>` : nothing}
    ${said.state === "aborted" ? html`<p class="quiet">${t("Stopped.")}</p>` : nothing}
    ${said.state === "failed" ? html`<p class="bad">${said.reason || t("This failed.")} <button @click=${retry}>${t("Try again")}</button></p>` : nothing}
  </article>`;
}

const DRAW: { [K in Part["kind"]]: (part: Extract<Part, { kind: K }>, said: Said) => unknown } = {
  text: ({ text }, { role }) =>
    role === "user" ? html`<div class="words">${text}</div>` : html`<div class="prose">${guard([text], () => markdown(text))}</div>`,
  tool,
  diff,
};

function tool({ name, input, output, state, startedMs, endedMs }: Tool) {
  const took = endedMs ? `${((endedMs - startedMs) / 1000).toFixed(1)} s` : "";
  return html`<details class="tool ${state}">
    <summary><span class="sign">${SIGNS[state]}</span> <b>${name}</b> <span class="quiet">${brief(input)} ${took}</span></summary>
    <pre>${JSON.stringify(input ?? {}, null, 2)}</pre>
    ${output ? html`<pre>${output.slice(0, SHOWN)}</pre>` : nothing}
  </details>`;
}

function brief(input: unknown): string {
  const text = Object.values((input ?? {}) as object).map((value) => (typeof value === "object" ? JSON.stringify(value) : String(value))).join(" ");
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function diff({ path, original, modified }: Change) {
  const changed = () => compare(original, modified).filter(({ kind }) => kind !== "same");
  return html`<details class="tool"><summary>± <b>${path}</b></summary>
    ${guard([original, modified], () => changed().map(({ kind, text }) => html`<div class="line ${kind}">${kind === "added" ? "+" : "−"} ${text}</div>`))}
  </details>`;
}
