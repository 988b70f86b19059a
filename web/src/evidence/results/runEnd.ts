/** How a run ended: exit code, exception, where threads wait, and the end of what the program printed. */
import { html, nothing } from "lit";
import { t } from "../../link";
import { placeOf, type RunEnd, type WaitingThread } from "./toolResults";

const LIMITS: Record<string, string> = {
  hits: "The run was ended: more hits than the limit.",
  characters: "The run was ended: more values than the page takes.",
  seconds: "The run was ended: its time was over.",
  expression: "The run was ended: an expression took too long.",
  steps: "The run was ended: more steps than the limit.",
};

export function endSummary(end: RunEnd): string {
  const parts = [
    end.limit ? t(LIMITS[end.limit] ?? end.limit) : "",
    end.how === "lost" ? t("The debugger ended without saying how the program ended.") : "",
    end.exception ? `${end.exception.type}: ${end.exception.message.split("\n")[0]}` : "",
    typeof end.exit_code === "number" ? t("exit code {code}", { code: end.exit_code }) : "",
    end.signal ? t("signal {name}", { name: end.signal }) : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

export function renderRunEnd(end: RunEnd) {
  const summary = endSummary(end);
  return html`${waiting(end)}
  ${summary ? html`<p class="small quiet" id="ended">${t("The run ended:")} ${summary}</p>` : nothing}
  ${output(end.output)}`;
}

export function output(text: string | undefined) {
  if (!text?.trim()) return nothing;
  return html`<details class="card" id="output"
    ><summary class="inner small">${t("The end of the output")}</summary>
    <pre class="code inner" tabindex="0" data-about=${t("what the program printed")}>${text.trimEnd()}</pre>
  </details>`;
}

export function waiting({ threads = [], tasks = [], threads_left_out: more }: RunEnd) {
  if (!threads.length && !tasks.length) return nothing;
  return html`<section class="card" id="threads" aria-label=${t("Where everything waits")}>
    <h3>${t("Where everything waits")}</h3>
    <div class="inner">
      <ul class="threads"
        >${[...threads, ...tasks].map(oneThread)}</ul
      >
      ${more ? html`<p class="quiet small">${t("and {count} more", { count: more })}</p>` : nothing}
    </div>
  </section>`;
}

function oneThread(it: WaitingThread) {
  const place = placeOf({
    function: "",
    ...(it.file_path ? { file_path: it.file_path } : {}),
    ...(it.line_number ? { line: it.line_number } : {}),
  });
  return html`<li
    ><b>${it.name}</b> ${it.waits_for ? t("waits for {what}", { what: it.waits_for }) : (it.state ?? "")}
    <span class="place"
      >${it.function_name} ${place}${it.held_at ? ` · ${t("taken at {place}", { place: it.held_at })}` : ""}</span
    ></li
  >`;
}

/** Names and values, as a list of pairs. */
export function pairs(values: Record<string, string> | undefined, changed: ReadonlySet<string> = new Set()) {
  const all = Object.entries(values ?? {});
  if (!all.length) return nothing;
  return html`<dl class="values"
    >${all.map(([name, value]) => html`<dt>${name}</dt><dd class=${changed.has(name) ? "changed" : ""}>${value}</dd>`)}</dl
  >`;
}
