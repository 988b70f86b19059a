/** The canvas: what agents draw, a tab for each surface. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { place } from "../app/place";
import { shared } from "../app/shared";
import { ask, feed, post, t } from "../link";
import { anew } from "../parts/anew";
import { who } from "../parts/who";
import "./chinese";
import type { Surface } from "./model";
import "./surface";

const VIEW = "canvas";

@customElement("dragoman-canvas")
export class DragomanCanvas extends LitElement {
  @state() private surfaces: Surface[] = [];
  @state() private shown = "";
  @state() private failed = "";
  @state() private notice = "";
  /** The surface that the address leads to, until it was looked for. */
  private led = "";
  private stop = () => {};
  private readonly sized = new ResizeObserver(() => this.reveal());

  override connectedCallback(): void {
    super.connectedCallback();
    this.sized.observe(this);
    place.addEventListener("led", this.followAddress);
    this.follow(place.of(VIEW));
    this.stop = feed.subscribe("canvas.", { events: () => void this.read(), reset: () => void this.read() });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.sized.disconnect();
    place.removeEventListener("led", this.followAddress);
    this.stop();
  }

  private readonly followAddress = (): void => {
    if (place.view !== VIEW) return;
    this.follow(place.of(VIEW));
    void this.read();
  };

  /** What it names may not be read yet, or be there no more. */
  private follow([drawer, surface]: readonly string[]): void {
    this.led = drawer === undefined || surface === undefined ? "" : key({ drawer, surface_id: surface });
  }

  private go(surface: Surface): void {
    this.shown = key(surface);
    this.notice = "";
    place.go(VIEW, surface.drawer, surface.surface_id);
  }

  override updated(changed: Map<string, unknown>): void {
    if (!changed.has("shown") && !changed.has("notice")) return;
    this.reveal();
    const shown = this.surfaces.find((surface) => key(surface) === this.shown);
    if (shown || this.notice) place.become(VIEW, shown?.drawer ?? "", shown?.surface_id ?? "");
  }

  /** In a narrow window the tabs are more than fit. */
  private reveal(): void {
    this.renderRoot.querySelector('.surfaces [aria-selected="true"]')?.parentElement?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  private readonly read = anew(async () => {
    try {
      this.take((await ask<{ surfaces: Surface[] }>("/api/canvas")).surfaces);
      this.failed = "";
    } catch (error) {
      this.failed = (error as Error).message;
    }
  });

  /** Tabs keep their places; a surface that is new is shown, unless the person is at another one just now. */
  private take(surfaces: Surface[]): void {
    const known = new Map(this.surfaces.map((surface, index) => [key(surface), index]));
    const order = (surface: Surface) => known.get(key(surface)) ?? surfaces.length + surface.changed_ms;
    this.surfaces = surfaces.toSorted((a, b) => order(a) - order(b));
    const asks = surfaces.find((surface) => surface.asking === "open" && !known.has(key(surface)));
    if (asks && !this.getClientRects().length) this.shown = key(asks); // whoever comes to answer finds it open
    if (this.led) this.arrive();
    if (!this.surfaces.some((surface) => key(surface) === this.shown)) this.shown = surfaces[0] ? key(surfaces[0]) : "";
  }

  private arrive(): void {
    const isThere = this.surfaces.some((surface) => key(surface) === this.led);
    if (isThere) this.shown = this.led;
    this.notice = isThere ? "" : t("The surface of this address is gone.");
    this.led = "";
  }

  private async takeAway(surface: Surface): Promise<void> {
    const { drawer, surface_id } = surface;
    try {
      await post("/api/canvas/remove", { drawer, surface_id });
      this.take(this.surfaces.filter((it) => key(it) !== key(surface)));
      await this.updateComplete; // the focus was on what is gone now
      this.renderRoot.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]')?.focus();
    } catch (error) {
      this.failed = (error as Error).message;
    }
  }

  private keyed(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const index = this.surfaces.findIndex((surface) => key(surface) === this.shown);
    const next = step && this.surfaces.at((index + step) % this.surfaces.length);
    if (!next) return;
    this.go(next);
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>('[aria-selected="true"]')?.focus());
  }

  override render() {
    return html`
      ${this.failed ? html`<p class="bad" role="alert">${this.failed}</p>` : nothing}
      ${this.notice ? html`<p id="notice" class="quiet" role="status">${this.notice}</p>` : nothing}
      ${this.surfaces.length ? this.tabs() : html`<p class="empty">${t("Agents show things here: ask one to draw what it found.")}</p>`}
      ${repeat(this.surfaces, key, (surface) => html`<dragoman-surface
        role="tabpanel" aria-label=${surface.title || surface.surface_id} .surface=${surface} ?hidden=${key(surface) !== this.shown}
      ></dragoman-surface>`)}
    `;
  }

  private tabs() {
    return html`<div class="surfaces" role="tablist" aria-label=${t("Surfaces")} @keydown=${this.keyed}>
      ${repeat(this.surfaces, key, (surface) => {
        const isShown = key(surface) === this.shown;
        const name = surface.title || surface.surface_id;
        return html`<span class="surface ${isShown ? "shown" : ""}"><button
          class="plain" role="tab" aria-selected=${isShown} tabindex=${isShown ? 0 : -1}
          title=${t("{name}, drawn by {drawer}", { name, drawer: who(surface.drawer) })} @click=${() => this.go(surface)}
        >${surface.asking === "open" ? html`<span class="asks" aria-hidden="true">?</span> ` : nothing}${name}</button><button
          class="plain away" aria-label=${t("Take {name} away", { name })} @click=${() => this.takeAway(surface)}
        >✕</button></span>`;
      })}
    </div>`;
  }

  static override styles = [
    shared,
    css`
      :host { display: flex; flex-direction: column; min-height: 0; }
      .surfaces { display: flex; gap: .3rem; padding: .5rem 1rem 0; overflow-x: auto; border-bottom: 1px solid var(--line); flex: none; }
      .surfaces .surface { display: flex; border: 1px solid transparent; border-bottom: 0; border-radius: .5rem .5rem 0 0; }
      .surfaces .shown { background: var(--card); border-color: var(--line); }
      .surfaces button { white-space: nowrap; max-width: 16rem; overflow: hidden; text-overflow: ellipsis; }
      .surfaces button:focus-visible { outline-offset: -2px; }
      .surfaces .away { padding: .25rem .5rem; color: var(--quiet); font-size: .8rem; }
      .asks { background: var(--warn); color: var(--card); border-radius: 1rem; padding: 0 .45em; font-size: .8em; }
      dragoman-surface { flex: 1; min-height: 0; }
      p.bad, #notice { margin: 0; padding: .5rem 1rem 0; }
    `,
  ];
}

function key({ drawer, surface_id }: Pick<Surface, "drawer" | "surface_id">): string {
  return `${drawer}/${surface_id}`;
}
