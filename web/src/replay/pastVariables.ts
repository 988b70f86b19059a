/** The variables of a past stop: what changed there is marked, with what it was, and what it is now. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, property } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { t } from "../link";
import "./chinese";
import { icon } from "./icons";
import type { PastStop } from "./pastStops";

@customElement("dragoman-past-variables")
export class DragomanPastVariables extends LitElement {
  @property({ attribute: false }) stop: PastStop | null = null;
  /** What the same variables hold at the present stop, if the program stands in the same function. */
  @property({ attribute: false }) present: ReadonlyMap<string, string> | null = null;

  override render() {
    const { stop, present } = this;
    if (!stop) return nothing;
    if (!stop.variables.length)
      return html`<p class="none"
        >${stop.number ? t("No variables were read at this stop.") : t("The program had not stopped yet.")}</p
      >`;
    const before = new Map(stop.changes.map((it) => [it.name, it.before]));
    return html`<div role="list" aria-label=${t("Variables")}
      >${stop.variables.map(({ name, value, type, isChanged }) => {
        const now = present?.get(name);
        const isOther = now !== undefined && now !== value;
        return html`<div role="listitem"
          ><button
            class="plain row"
            title=${type ? `${name}: ${type}` : name}
            aria-label=${t("{name} = {value}, show its values over time", { name, value })}
            @click=${() => this.dispatchEvent(new CustomEvent("over-time", { detail: name }))}
            ><span class="name">${name}</span><span class="value ${isChanged ? "changed" : ""}">${value}</span>${
              isChanged && before.get(name) !== undefined
                ? html`<span class="other">${t("was {value}", { value: before.get(name)! })}</span>`
                : nothing
            }${isOther ? html`<span class="other now">${t("now {value}", { value: now })}</span>` : nothing}<span
              class="chart-mark"
              >${icon("chart")}</span
            ></button
          ></div
        >`;
      })}</div
    >`;
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: block;
        min-height: 0;
        overflow-y: auto;
        background: var(--card);
      }
      .none {
        margin: 0;
        padding: 0.3rem 0.8rem;
        color: var(--quiet);
        font-size: 0.88rem;
      }
      .row {
        display: flex;
        align-items: center;
        gap: 0.5rem;
        width: 100%;
        height: 24px;
        padding: 0 0.6rem;
        border: 0;
        border-radius: 0;
        font: 0.82rem/1.2 var(--mono);
        text-align: left;
        white-space: nowrap;
      }
      .row:hover {
        background: var(--raised);
      }
      .row > * {
        overflow: hidden;
        text-overflow: ellipsis;
      }
      .name {
        flex: none;
        max-width: 45%;
        color: var(--accent);
      }
      .value {
        flex: 0 1 auto;
        min-width: 2ch;
        padding: 0 0.2rem;
        border-radius: 0.2rem;
      }
      .changed {
        background: var(--marked);
      }
      .other {
        flex: 0 2 auto;
        color: var(--quiet);
        font-size: 0.76rem;
      }
      .now {
        color: var(--warn);
      }
      .chart-mark {
        flex: none;
        margin-left: auto;
        color: var(--quiet);
        visibility: hidden;
      }
      .row:hover .chart-mark,
      .row:focus-visible .chart-mark {
        visibility: visible;
      }
    `,
  ];
}
