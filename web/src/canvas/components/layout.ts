/** The basic catalogue: what holds other components. */
import { html, nothing } from "lit";
import { createRef, ref, type Ref } from "lit/directives/ref.js";
import { t } from "../../link";
import { define, type Node, type Painter } from "../model";
import { hasAction, list, record, text } from "../values";

const JUSTIFY: Record<string, string> = {
  start: "flex-start",
  center: "center",
  end: "flex-end",
  spaceBetween: "space-between",
  spaceAround: "space-around",
  spaceEvenly: "space-evenly",
  stretch: "stretch",
};
const ALIGN: Record<string, string> = { start: "flex-start", center: "center", end: "flex-end", stretch: "stretch" };

function container({ justify, align }: Node["properties"]): string {
  return `justify-content:${JUSTIFY[text(justify)] ?? "flex-start"};align-items:${ALIGN[text(align)] ?? "stretch"}`;
}

function box(direction: string) {
  return (node: Node, painter: Painter) =>
    html`<div class="box ${direction}" .style=${container(node.properties)}>${painter.inside(node)}</div>`;
}

define("Row", box("row"), { fills: true });
define("Column", box("column"), { fills: true });
define(
  "List",
  (node, painter) => {
    const direction = node.properties.direction === "horizontal" ? "row scrolls" : "column";
    return html`<div class="box ${direction}" role="list" .style=${container(node.properties)}
      >${painter.inside(node)}</div
    >`;
  },
  { fills: true },
);
define("Card", (node, painter) => html`<div class="card">${painter.inside(node)}</div>`, { fills: true });
define("Divider", (node) => html`<hr class=${node.properties.axis === "vertical" ? "vertical" : ""} />`);

define(
  "Tabs",
  (node, painter) => {
    const memory = painter.memory(node, { shown: 0 });
    const tabs = list(node.properties.tabs).map((tab) => text(record(tab).title));
    memory.shown = Math.min(memory.shown, Math.max(0, tabs.length - 1));
    const choose = (index: number) => {
      memory.shown = index;
      painter.redraw();
    };
    const keyed = (event: KeyboardEvent) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step || !tabs.length) return;
      choose((memory.shown + step + tabs.length) % tabs.length);
      (event.currentTarget as HTMLElement).querySelectorAll("button")[memory.shown]?.focus();
    };
    return html`
      <div class="tabs" role="tablist" @keydown=${keyed}>
        ${tabs.map(
          (title, index) =>
            html`<button
              class="plain"
              role="tab"
              aria-selected=${index === memory.shown}
              tabindex=${index === memory.shown ? 0 : -1}
              @click=${() => choose(index)}
              >${title}</button
            >`,
        )}
      </div>
      <div role="tabpanel">${painter.inside(node, `tabs/${memory.shown}/child`)}</div>
    `;
  },
  { fills: true },
);

define("Modal", (node, painter) => {
  const memory = painter.memory(node, { isOpen: false });
  const trigger = createRef<HTMLElement>();
  const become = (isOpen: boolean) => {
    memory.isOpen = isOpen;
    painter.redraw();
    if (!isOpen) (trigger.value?.querySelector<HTMLElement>("button:enabled") ?? trigger.value)?.focus();
  };
  const closes = (event: KeyboardEvent) => event.key === "Escape" && become(false);
  const opened = html`<div
    class="modal"
    role="dialog"
    aria-modal="false"
    aria-label=${t("Opened")}
    tabindex="-1"
    ${ref(focusDialog)}
    @keydown=${closes}
  >
    ${painter.inside(node, "content")}
    <button @click=${() => become(false)}>${t("Close")}</button>
  </div>`;
  return html`${opener(node, painter, () => become(true), trigger)}${memory.isOpen ? opened : nothing}`;
});

/** Once, as soon as it is in the page: move the focus inside, for keyboard users. */
function focusDialog(dialog: Element | undefined): void {
  queueMicrotask(() => (dialog as HTMLElement | undefined)?.focus());
}

/** The opener may be a button with its own action; any other component becomes one. */
function opener(node: Node, painter: Painter, open: () => void, triggerRef: Ref<HTMLElement>) {
  const inner = painter.inside(node, "trigger");
  const isButton = node.children.some(
    (child) => child.slot === "trigger" && child.type === "Button" && hasAction(child),
  );
  if (isButton) return html`<div ${ref(triggerRef)} @click=${open}>${inner}</div>`;
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open();
  };
  return html`<div class="opens" role="button" tabindex="0" ${ref(triggerRef)} @click=${open} @keydown=${pressed}
    >${inner}</div
  >`;
}
