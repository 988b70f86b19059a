/** One surface: draws its tree, keeps what is entered, and tells what the person did. */
import { LitElement, html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { keyed } from "lit/directives/keyed.js";
import { repeat } from "lit/directives/repeat.js";
import { shared } from "../app/shared";
import { post, t } from "../link";
import { acquaintances, who } from "../parts/who";
import { absolute, failing, lookUp } from "./checks";
import "./components/all";
import { componentOf, looksOfComponents, type Node, type Painter, type Surface } from "./model";
import { looks } from "./looks";
import { number, record, text } from "./values";

@customElement("dragoman-surface")
export class DragomanSurface extends LitElement implements Painter {
  @property({ attribute: false }) surface!: Surface;
  @state() isBusy = false;
  @state() private told = "";
  @state() private failed = "";
  private readonly entered = new Map<string, unknown>();
  /** The version that the last action leaves behind it. */
  private answeredAt = 0;
  private readonly memories = new Map<string, object>();
  /** What was sent stays in its field until the surface comes with it. */
  private sent: { version: number; changes: [string, unknown][] }[] = [];

  override connectedCallback(): void {
    super.connectedCallback();
    acquaintances.addEventListener("learned", this.learned);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    acquaintances.removeEventListener("learned", this.learned);
  }

  /** Who drew it may have a name by now. */
  private readonly learned = (): void => this.requestUpdate();

  protected override willUpdate(changed: Map<string, unknown>): void {
    if (!changed.has("surface")) return;
    for (const { changes } of this.sent.filter(({ version }) => version < this.surface.version)) this.forget(changes);
    this.sent = this.sent.filter(({ version }) => version >= this.surface.version);
  }

  private forget(changes: [string, unknown][]): void {
    for (const [path, value] of changes) if (this.entered.get(path) === value) this.entered.delete(path);
  }

  value(node: Node, name: string): unknown {
    const path = node.bindings[name] ?? `\0${node.id}/${name}`;
    return this.entered.has(path) ? this.entered.get(path) : node.properties[name];
  }

  objections(node: Node): string[] {
    return failing(node.properties.checks, (path) => {
      const place = absolute(path, node.scope);
      return this.entered.has(place) ? this.entered.get(place) : lookUp(this.surface.data, place);
    });
  }

  /** An input that is bound to nothing still shows what was entered; only what is bound can be sent. */
  enter(node: Node, name: string, value: unknown): void {
    this.entered.set(node.bindings[name] ?? `\0${node.id}/${name}`, value);
    this.requestUpdate();
  }

  async act(node: Node, details: Record<string, unknown> = {}): Promise<boolean> {
    return !this.isBusy && (await this.send(node, details));
  }

  memory<T extends object>(node: Node, initial: T): T {
    const key = `${node.type} ${node.id}`; // another component of the same name remembers nothing of it
    const kept = this.memories.get(key) ?? initial;
    this.memories.set(key, kept);
    return kept as T;
  }

  get drawer(): string {
    return who(this.surface.drawer);
  }

  /** Kept by the tab, so that a reload does not ask again what was answered. */
  isAnswered(node: Node): boolean {
    return Number(sessionStorage.getItem(this.place(node)) ?? 0) >= this.surface.version;
  }

  setAnswered(node: Node, isAnswered: boolean): void {
    if (isAnswered) sessionStorage.setItem(this.place(node), String(this.answeredAt));
    else sessionStorage.removeItem(this.place(node));
    this.requestUpdate();
    this.goOn();
  }

  /** Whoever writes by keyboard was at what goes now: they go on at what comes in its place. */
  private goOn(): void {
    const place = this.shadowRoot?.activeElement?.closest(".component");
    void this.updateComplete.then(() => place?.querySelector<HTMLElement>(".answered, input, select, textarea")?.focus());
  }

  private place(node: Node): string {
    return `answered ${this.surface.drawer}/${this.surface.surface_id} ${node.id}`;
  }

  redraw(): void {
    this.requestUpdate();
  }

  inside(node: Node, slot?: string): unknown {
    const wanted = slot === undefined ? node.children : node.children.filter((child) => child.slot === slot);
    return repeat(wanted, ({ id, slot }) => `${slot} ${id}`, (child) => this.draw(child));
  }

  private async send(node: Node, details: Record<string, unknown>): Promise<boolean> {
    const { drawer, surface_id, version } = this.surface;
    const changes = [...this.entered].filter(([path]) => !path.startsWith("\0"));
    this.isBusy = true;
    try {
      const body = { drawer, surface_id, component_id: node.component_id, scope: node.scope, details, changes };
      await post("/api/canvas/act", body);
      this.answeredAt = version + (changes.length ? 1 : 0); // what was entered counts as a change
      if (changes.length) this.sent.push({ version, changes });
      [this.told, this.failed] = [t("Sent to {drawer}", { drawer: this.drawer }), ""];
      return true;
    } catch (error) {
      this.failed = (error as Error).message; // nothing that was entered is lost
      return false;
    } finally {
      this.isBusy = false;
    }
  }

  private draw(node: Node): unknown {
    if (node.state === "pending") return html`<span class="quiet" aria-hidden="true">…</span>`;
    if (node.state === "cut") return html`<span class="quiet">${t("[too much to draw here]")}</span>`;
    const label = text(record(node.properties.accessibility).label);
    const grow = number(node.properties.weight);
    return html`<div
      class="component ${componentOf(node.type)?.fills ? "fills" : ""}" data-type=${node.type} aria-label=${label || nothing}
      role=${label ? "group" : nothing} .style=${grow > 0 ? `flex:${grow} 1 0` : ""}
    >${keyed(node.type, this.drawn(node))}</div>`;
  }

  /** What one component cannot draw is no reason for the others not to be there. */
  private drawn(node: Node): unknown {
    const component = componentOf(node.type);
    if (!component) return html`<span class="quiet mono">[${node.type}: not yet implemented]</span>`;
    try {
      return component.draw(node, this);
    } catch (error) {
      return html`<span class="bad">${t("[{type} cannot be drawn: {reason}]", { type: node.type, reason: String(error) })}</span>`;
    }
  }

  override render() {
    return html`
      ${this.surface.tree ? this.draw(this.surface.tree) : html`<p class="empty">${t("Nothing is drawn yet.")}</p>`}
      <p class="told quiet" role="status">${this.told}</p>
      ${this.failed ? html`<p class="bad" role="alert">${this.failed}</p>` : nothing}
    `;
  }

  static override styles = [shared, looks, ...looksOfComponents()];
}
