/** A small menu where the pointer or the focus is: arrow keys, Escape, and a click elsewhere closes it. */
import { LitElement, css, html } from "lit";
import { customElement, state } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";

export interface MenuItem {
  title: string;
  key?: string;
  act(): void;
}

@customElement("dragoman-menu")
export class DragomanMenu extends LitElement {
  @state() private items: readonly MenuItem[] = [];
  private place = { x: 0, y: 0 };
  private opener: HTMLElement | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.popover = "auto";
    this.setAttribute("role", "menu");
    this.addEventListener("keydown", this.pressed);
  }

  /** The focus goes back to the opener unless the action moves it elsewhere. */
  async open(items: readonly MenuItem[], at: { x: number; y: number }, opener: HTMLElement): Promise<void> {
    [this.items, this.place, this.opener] = [items, at, opener];
    await this.updateComplete;
    this.showPopover();
    const { width, height } = this.getBoundingClientRect();
    this.style.left = `${Math.max(4, Math.min(this.place.x, innerWidth - width - 4))}px`;
    this.style.top = `${Math.max(4, Math.min(this.place.y, innerHeight - height - 4))}px`;
    this.buttons[0]?.focus();
  }

  private get buttons(): HTMLButtonElement[] {
    return [...this.renderRoot.querySelectorAll("button")];
  }

  private readonly pressed = (event: KeyboardEvent): void => {
    event.stopPropagation();
    const { buttons } = this;
    const at = buttons.indexOf(this.shadowRoot!.activeElement as HTMLButtonElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") this.close();
    else if (next !== undefined) buttons[(next + buttons.length) % buttons.length]?.focus();
    else return;
    event.preventDefault();
  };

  private close(): void {
    this.hidePopover();
    this.opener?.focus();
  }

  private choose(item: MenuItem): void {
    this.close();
    item.act();
  }

  override render() {
    return this.items.map(
      (it) =>
        html`<button class="plain" role="menuitem" @click=${() => this.choose(it)}
          ><span>${it.title}</span><kbd>${it.key ?? ""}</kbd></button
        >`,
    );
  }

  static override styles = [
    sharedStyles,
    css`
      :host {
        position: fixed;
        inset: auto;
        margin: 0;
        padding: 0.25rem;
        border: 1px solid var(--line);
        border-radius: 0.4rem;
        background: var(--card);
        color: inherit;
        box-shadow: 0 6px 20px #0004;
      }
      button {
        display: flex;
        justify-content: space-between;
        gap: 1.5rem;
        width: 100%;
        padding: 0.25rem 0.7rem;
        border-radius: 0.25rem;
        font-size: 0.88rem;
      }
      button:hover,
      button:focus-visible {
        background: var(--raised);
      }
      kbd {
        color: var(--quiet);
        font: 0.78rem var(--mono);
      }
    `,
  ];
}
