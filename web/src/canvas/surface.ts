/** One surface: draws its tree, keeps what is entered, and sends what the person did. */
import { LitElement, html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { keyed } from "lit/directives/keyed.js";
import { repeat } from "lit/directives/repeat.js";
import { sharedStyles } from "../app/styles";
import { post, t } from "../link";
import { actorNames, actorName } from "../parts/actors";
import { absolutePointer, failedChecks, resolvePointer } from "./checks";
import "./components/all";
import { componentOf, componentStyles, type Node, type Painter, type Surface } from "./model";
import { canvasStyles } from "./styles";
import { number, record, text } from "./values";

@customElement("dragoman-surface")
export class DragomanSurface extends LitElement implements Painter {
  @property({ attribute: false }) surface!: Surface;
  @state() isBusy = false;
  @state() private confirmation = "";
  @state() private error = "";
  private readonly edits = new Map<string, unknown>();
  /** The version that the last action leaves behind it. */
  private answeredAt = 0;
  private readonly memories = new Map<string, object>();
  /** A sent value stays in its field until the surface arrives with it. */
  private sentEdits: { version: number; changes: [string, unknown][] }[] = [];

  override connectedCallback(): void {
    super.connectedCallback();
    actorNames.addEventListener("changed", this.namesChanged);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    actorNames.removeEventListener("changed", this.namesChanged);
  }

  /** The name of the agent may have arrived in the meantime. */
  private readonly namesChanged = (): void => this.requestUpdate();

  protected override willUpdate(changed: Map<string, unknown>): void {
    if (!changed.has("surface")) return;
    for (const { changes } of this.sentEdits.filter(({ version }) => version < this.surface.version))
      this.forget(changes);
    this.sentEdits = this.sentEdits.filter(({ version }) => version >= this.surface.version);
  }

  private forget(changes: [string, unknown][]): void {
    for (const [path, value] of changes) if (this.edits.get(path) === value) this.edits.delete(path);
  }

  value(node: Node, name: string): unknown {
    const path = node.bindings[name] ?? `\0${node.id}/${name}`;
    return this.edits.has(path) ? this.edits.get(path) : node.properties[name];
  }

  objections(node: Node): string[] {
    return failedChecks(node.properties.checks, (path) => {
      const pointer = absolutePointer(path, node.scope);
      return this.edits.has(pointer) ? this.edits.get(pointer) : resolvePointer(this.surface.data, pointer);
    });
  }

  /** An input that is bound to nothing still shows what was entered; only what is bound can be sent. */
  enter(node: Node, name: string, value: unknown): void {
    this.edits.set(node.bindings[name] ?? `\0${node.id}/${name}`, value);
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
    return actorName(this.surface.drawer);
  }

  /** Kept by the tab, so that a reload does not ask again what was answered. */
  isAnswered(node: Node): boolean {
    return Number(sessionStorage.getItem(this.renderComponent(node)) ?? 0) >= this.surface.version;
  }

  setAnswered(node: Node, isAnswered: boolean): void {
    if (isAnswered) sessionStorage.setItem(this.renderComponent(node), String(this.answeredAt));
    else sessionStorage.removeItem(this.renderComponent(node));
    this.requestUpdate();
    this.answerAgain();
  }

  /** The focused element is replaced: move the focus to its successor. */
  private answerAgain(): void {
    const pointer = this.shadowRoot?.activeElement?.closest(".component");
    void this.updateComplete.then(() =>
      pointer?.querySelector<HTMLElement>(".answered, input, select, textarea")?.focus(),
    );
  }

  private renderComponent(node: Node): string {
    return `answered ${this.surface.drawer}/${this.surface.surface_id} ${node.id}`;
  }

  redraw(): void {
    this.requestUpdate();
  }

  inside(node: Node, slot?: string): unknown {
    const wanted = slot === undefined ? node.children : node.children.filter((child) => child.slot === slot);
    return repeat(
      wanted,
      ({ id, slot }) => `${slot} ${id}`,
      (child) => this.draw(child),
    );
  }

  private async send(node: Node, details: Record<string, unknown>): Promise<boolean> {
    const { drawer, surface_id, version } = this.surface;
    const changes = [...this.edits].filter(([path]) => !path.startsWith("\0"));
    this.isBusy = true;
    try {
      const body = { drawer, surface_id, component_id: node.component_id, scope: node.scope, details, changes };
      await post("/api/canvas/act", body);
      this.answeredAt = version + (changes.length ? 1 : 0); // what was entered counts as a change
      if (changes.length) this.sentEdits.push({ version, changes });
      [this.confirmation, this.error] = [t("Sent to {drawer}", { drawer: this.drawer }), ""];
      return true;
    } catch (error) {
      this.error = (error as Error).message; // nothing that was entered is lost
      return false;
    } finally {
      this.isBusy = false;
    }
  }

  private draw(node: Node): unknown {
    if (node.state === "pending") return html`<span class="quiet" aria-hidden="true">…</span>`;
    if (node.state === "cut") return html`<span class="quiet">${t("[too much content to draw]")}</span>`;
    const label = text(record(node.properties.accessibility).label);
    const grow = number(node.properties.weight);
    return html`<div
      class="component ${componentOf(node.type)?.fills ? "fills" : ""}"
      data-type=${node.type}
      aria-label=${label || nothing}
      role=${label ? "group" : nothing}
      .style=${grow > 0 ? `flex:${grow} 1 0` : ""}
      >${keyed(node.type, this.renderTree(node))}</div
    >`;
  }

  /** A component that cannot be drawn must not hide the others. */
  private renderTree(node: Node): unknown {
    const component = componentOf(node.type);
    if (!component) return html`<span class="quiet mono">[${node.type}: not yet implemented]</span>`;
    try {
      return component.draw(node, this);
    } catch (error) {
      return html`<span class="bad"
        >${t("[{type} cannot be drawn: {reason}]", { type: node.type, reason: String(error) })}</span
      >`;
    }
  }

  override render() {
    return html`
      ${this.surface.tree ? this.draw(this.surface.tree) : html`<p class="empty">${t("Nothing drawn yet.")}</p>`}
      <p class="confirmation quiet" role="status">${this.confirmation}</p>
      ${this.error ? html`<p class="bad" role="alert">${this.error}</p>` : nothing}
    `;
  }

  static override styles = [sharedStyles, canvasStyles, ...componentStyles()];
}
