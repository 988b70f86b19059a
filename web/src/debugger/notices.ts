/** What the view says above its panes: the state of the session, an error, a notice, and which past stop is shown. */
import { html, nothing } from "lit";
import { t } from "../link";
import { pastStopText, stopReason, type PastStop } from "../replay/pastStops";
import type { DebugController } from "./debugController";
import { baseName } from "./panes/pane";

/** The state of the session, and who caused it. */
export function standing({ sessions, inspection, history }: DebugController) {
  const { current: session } = sessions;
  if (!session) return t("No session.");
  const last = history.newestOf(session.session_id, ({ actor }) => actor);
  const by = last
    ? html` <span class="quiet">${t("{who} {what}", { who: last.actor, what: last.text })}</span>`
    : nothing;
  const why = inspection.stop ? stopReason(inspection.stop) : "";
  const end =
    session.exit_code !== undefined ? t("exit code {code}", { code: session.exit_code }) : (session.signal ?? "");
  const more = why || end;
  return html`<strong class=${inspection.stop?.exception ? "bad" : ""}
      >${t(session.state)}${more ? `: ${more}` : ""}</strong
    >${by}`;
}

export function notices(controller: DebugController) {
  const { commands, history } = controller;
  return html`${commands.error ? problem(controller) : nothing}${commands.notice ? notice(controller) : nothing}${
    history.pastStop ? pastStop(controller, history.pastStop) : nothing
  }`;
}

/** A past stop: its location, and buttons for the others. */
function pastStop(controller: DebugController, then: PastStop) {
  const { lastStop, inspection } = controller;
  const go = (to: number, icon: string, name: string) =>
    html`<button
      class="plain"
      ?disabled=${to < 1 || to > lastStop}
      aria-label=${name}
      title=${name}
      @click=${() => controller.showPastStop(to)}
      >${icon}</button
    >`;
  return html`<p class="then" role="status"
    ><span>${pastStopText(then)}</span>
    <span class="ways"
      >${go(then.number - 1, "◀", t("Previous stop"))} ${go(then.number + 1, "▶", t("Next stop"))}
      <button id="now" @click=${() => controller.showPresent()}
        >${inspection.stop ? t("Back to the present") : t("Close")}</button
      ></span
    ></p
  >`;
}

function problem(controller: DebugController) {
  const { commands } = controller;
  const { message, hint, wouldRun, untrusted } = commands.error!;
  const code = wouldRun ? html`<br />${t("It would run:")}<br /><code class="would-run">${wouldRun}</code>` : nothing;
  return html`<p class="trouble" role="alert"
    ><span>${message} <span class="quiet">${hint}${code}</span></span>
    ${untrusted ? html`<button id="trust" title=${untrusted} @click=${() => commands.trust(untrusted)}>${t("Trust {name} and start", { name: baseName(untrusted) })}</button>` : nothing}
    <button class="plain" @click=${() => ((commands.error = null), controller.changed())}>${t("Close")}</button></p
  >`;
}

function notice(controller: DebugController) {
  const { commands } = controller;
  return html`<p id="notice" class="then" role="status"
    ><span>${commands.notice}</span>
    <button class="plain" @click=${() => ((commands.notice = ""), controller.changed())}>${t("Close")}</button></p
  >`;
}
