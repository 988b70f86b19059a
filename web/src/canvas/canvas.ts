/** The canvas: what agents draw, a tab for each surface. */
import { LitElement, css, html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { router } from "../app/router";
import { sharedStyles } from "../app/styles";
import { request, feed, post, t } from "../link";
import { coalesced } from "../parts/coalesced";
import { actorName } from "../parts/actors";
import "./chinese";
import type { Surface } from "./model";
import "./surface";

const VIEW = "canvas";

@customElement("dragoman-canvas")
export class DragomanCanvas extends LitElement {
  @state() private surfaces: Surface[] = [];
  @state() private shown = "";
  @state() private error = "";
  @state() private notice = "";
  /** The surface that the address leads to, until it was looked for. */
  private routeTarget = "";
  private unsubscribe = () => {};
  private readonly resizeObserver = new ResizeObserver(() => this.reveal());

  override connectedCallback(): void {
    super.connectedCallback();
    this.resizeObserver.observe(this);
    router.addEventListener("navigated", this.routeChanged);
    this.setRouteTarget(router.parts(VIEW));
    this.unsubscribe = feed.subscribe("canvas.", { events: () => void this.read(), reset: () => void this.read() });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resizeObserver.disconnect();
    router.removeEventListener("navigated", this.routeChanged);
    this.unsubscribe();
  }

  private readonly routeChanged = (): void => {
    if (router.view !== VIEW) return;
    this.setRouteTarget(router.parts(VIEW));
    void this.read();
  };

  /** The address may name something that is not read yet, or no longer exists. */
  private setRouteTarget([drawer, surface]: readonly string[]): void {
    this.routeTarget = drawer === undefined || surface === undefined ? "" : key({ drawer, surface_id: surface });
  }

  private select(surface: Surface): void {
    this.shown = key(surface);
    this.notice = "";
    router.push(VIEW, surface.drawer, surface.surface_id);
  }

  override updated(changed: Map<string, unknown>): void {
    if (!changed.has("shown") && !changed.has("notice")) return;
    this.reveal();
    const shown = this.surfaces.find((surface) => key(surface) === this.shown);
    if (shown || this.notice) router.replace(VIEW, shown?.drawer ?? "", shown?.surface_id ?? "");
  }

  /** In a narrow window the tabs are more than fit. */
  private reveal(): void {
    this.renderRoot
      .querySelector('.surfaces [aria-selected="true"]')
      ?.parentElement?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  private readonly read = coalesced(async () => {
    try {
      this.setSurfaces((await request<{ surfaces: Surface[] }>("/api/canvas")).surfaces);
      this.error = "";
    } catch (error) {
      this.error = (error as Error).message;
    }
  });

  /** Tabs keep their places; a surface that is new is shown, unless the person is at another one just now. */
  private setSurfaces(surfaces: Surface[]): void {
    const known = new Map(this.surfaces.map((surface, index) => [key(surface), index]));
    const order = (surface: Surface) => known.get(key(surface)) ?? surfaces.length + surface.changed_ms;
    this.surfaces = surfaces.toSorted((a, b) => order(a) - order(b));
    const asks = surfaces.find((surface) => surface.asking === "open" && !known.has(key(surface)));
    if (asks && !this.getClientRects().length) this.shown = key(asks); // it is open when the person comes to answer
    if (this.routeTarget) this.showRouteTarget();
    if (!this.surfaces.some((surface) => key(surface) === this.shown)) this.shown = surfaces[0] ? key(surfaces[0]) : "";
  }

  private showRouteTarget(): void {
    const isThere = this.surfaces.some((surface) => key(surface) === this.routeTarget);
    if (isThere) this.shown = this.routeTarget;
    this.notice = isThere ? "" : t("The surface in this address no longer exists.");
    this.routeTarget = "";
  }

  private async removeSurface(surface: Surface): Promise<void> {
    const { drawer, surface_id } = surface;
    try {
      await post("/api/canvas/remove", { drawer, surface_id });
      this.setSurfaces(this.surfaces.filter((it) => key(it) !== key(surface)));
      await this.updateComplete; // the focus was on what is gone now
      this.renderRoot.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]')?.focus();
    } catch (error) {
      this.error = (error as Error).message;
    }
  }

  private handleTabKey(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const index = this.surfaces.findIndex((surface) => key(surface) === this.shown);
    const next = step && this.surfaces.at((index + step) % this.surfaces.length);
    if (!next) return;
    this.select(next);
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>('[aria-selected="true"]')?.focus());
  }

  override render() {
    return html`
      ${this.error ? html`<p class="bad" role="alert">${this.error}</p>` : nothing}
      ${this.notice ? html`<p id="notice" class="quiet" role="status">${this.notice}</p>` : nothing}
      ${this.surfaces.length ? this.tabs() : html`<p class="empty">${t("Agents show things here: ask one to draw what it found.")}</p>`}
      ${repeat(
        this.surfaces,
        key,
        (surface) =>
          html`<dragoman-surface
            role="tabpanel"
            aria-label=${surface.title || surface.surface_id}
            .surface=${surface}
            ?hidden=${key(surface) !== this.shown}
          ></dragoman-surface>`,
      )}
    `;
  }

  private tabs() {
    return html`<div class="surfaces" role="tablist" aria-label=${t("Surfaces")} @keydown=${this.handleTabKey}>
      ${repeat(this.surfaces, key, (surface) => {
        const isShown = key(surface) === this.shown;
        const name = surface.title || surface.surface_id;
        return html`<span class="surface ${isShown ? "shown" : ""}"
          ><button
            class="plain"
            role="tab"
            aria-selected=${isShown}
            tabindex=${isShown ? 0 : -1}
            title=${t("{name}, drawn by {drawer}", { name, drawer: actorName(surface.drawer) })}
            @click=${() => this.select(surface)}
            >${surface.asking === "open" ? html`<span class="asks" aria-hidden="true">?</span> ` : nothing}${name}</button
          ><button
            class="plain away"
            aria-label=${t("Remove {name}", { name })}
            @click=${() => this.removeSurface(surface)}
            >✕</button
          ></span
        >`;
      })}
    </div>`;
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 0;
      }
      .surfaces {
        display: flex;
        gap: 0.3rem;
        padding: 0.5rem 1rem 0;
        overflow-x: auto;
        border-bottom: 1px solid var(--line);
        flex: none;
      }
      .surfaces .surface {
        display: flex;
        border: 1px solid transparent;
        border-bottom: 0;
        border-radius: 0.5rem 0.5rem 0 0;
      }
      .surfaces .shown {
        background: var(--card);
        border-color: var(--line);
      }
      .surfaces button {
        white-space: nowrap;
        max-width: 16rem;
        overflow: hidden;
        text-overflow: ellipsis;
      }
      .surfaces button:focus-visible {
        outline-offset: -2px;
      }
      .surfaces .away {
        padding: 0.25rem 0.5rem;
        color: var(--quiet);
        font-size: 0.8rem;
      }
      .asks {
        background: var(--warn);
        color: var(--card);
        border-radius: 1rem;
        padding: 0 0.45em;
        font-size: 0.8em;
      }
      dragoman-surface {
        flex: 1;
        min-height: 0;
      }
      p.bad,
      #notice {
        margin: 0;
        padding: 0.5rem 1rem 0;
      }
    `,
  ];
}

function key({ drawer, surface_id }: Pick<Surface, "drawer" | "surface_id">): string {
  return `${drawer}/${surface_id}`;
}
