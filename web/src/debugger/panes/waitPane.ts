/** Where each thread and task of a program that hangs is, what it waits for, and who holds that. */
import { css, html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { sharedStyles } from "../../app/styles";
import { t } from "../../link";
import { timeOfDay } from "../../parts/time";
import type { DumpedThread } from "../toolResults";
import { DebuggerPane, baseName } from "./pane";
import { paneStyles } from "./styles";

@customElement("dragoman-wait-pane")
export class WaitPane extends DebuggerPane {
  override render() {
    const { waits } = this.controller.inspection.threads;
    if (!waits) return nothing;
    return html`<div class="all" tabindex="0" role="group" aria-label=${t("Where it waits")}>
      <p class="none">${t("As it was at {time}.", { time: timeOfDay(waits.at) })}</p>
      ${waits.deadlock ? html`<p class="deadlock" role="alert">${waits.deadlock}</p>` : nothing}
      <table>
        <thead>
          <tr
            >${["Thread", "State", "Place", "Waits for", "Held by"].map((it) => html`<th scope="col">${t(it)}</th>`)}</tr
          >
        </thead>
        <tbody> ${waits.rows.map((it) => this.row(it))} </tbody>
      </table>
      ${waits.leftOut ? html`<p class="none">${t("and {count} more", { count: waits.leftOut })}</p>` : nothing}
    </div>`;
  }

  private row(it: DumpedThread) {
    return html`<tr class=${it.held_by ? "blocked" : ""}>
      <th scope="row">${it.isTask ? t("task {name}", { name: it.name }) : it.name}</th>
      <td>${t(it.state)}</td>
      <td>${this.place(it.file_path ?? "", it.line_number ?? 0, it.function_name ?? "")}</td>
      <td>${it.waits_for ?? ""}</td>
      <td>${it.held_by ?? ""} ${it.held_at ? this.heldAt(it.held_at) : nothing}</td>
    </tr>`;
  }

  private heldAt(place: string) {
    const colon = place.lastIndexOf(":");
    return this.place(place.slice(0, colon), Number(place.slice(colon + 1)), "");
  }

  private place(path: string, line: number, name: string) {
    if (!path) return name;
    return html`<button class="plain mono" title=${path} @click=${() => this.controller.open(path, line)}
      >${baseName(path)}:${line} ${name}</button
    >`;
  }

  static override styles = [
    sharedStyles,
    paneStyles,
    css`
      .all {
        flex: 1;
        overflow: auto;
        background: var(--card);
        padding-top: 0.4rem;
      }
      table {
        width: 100%;
        border-collapse: collapse;
        font-size: 0.85rem;
      }
      th,
      td {
        padding: 0.2rem 0.8rem;
        border-top: 1px solid var(--line);
        text-align: left;
        vertical-align: baseline;
        font-weight: 400;
      }
      thead th {
        position: sticky;
        top: -0.4rem;
        background: var(--card);
        color: var(--quiet);
        font-size: 0.78rem;
      }
      tbody th {
        font-weight: 600;
      }
      .blocked td:nth-child(4),
      .deadlock {
        color: var(--bad);
      }
      .deadlock {
        margin: 0 0.8rem 0.5rem;
        padding: 0.3rem 0.6rem;
        border-left: 3px solid var(--bad);
        background: var(--bad-card);
        font-size: 0.88rem;
      }
      button.plain {
        padding: 0;
        color: var(--accent);
        text-align: left;
      }
    `,
  ];
}
