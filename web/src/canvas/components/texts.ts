/** The basic catalogue: what is read. Nothing is loaded from elsewhere: pictures and sounds are told by their address. */
import { html, nothing } from "lit";
import { guard } from "lit/directives/guard.js";
import { t } from "../../link";
import { markdown } from "../../parts/markdown";
import { define, type Node, type Painter } from "../model";
import { said } from "../values";

const ICONS: Record<string, string> = {
  accountCircle: "👤", add: "＋", arrowBack: "←", arrowForward: "→", attachFile: "📎", calendarToday: "📅", call: "📞",
  camera: "📷", check: "✓", close: "✕", delete: "🗑", download: "⬇", edit: "✎", error: "⛔", event: "📅", favorite: "♥",
  favoriteOff: "♡", folder: "📁", help: "?", home: "⌂", info: "ℹ", locationOn: "📍", lock: "🔒", lockOpen: "🔓", mail: "✉",
  menu: "☰", moreHoriz: "⋯", moreVert: "⋮", notifications: "🔔", pause: "⏸", payment: "💳", person: "👤", phone: "📞",
  photo: "🖼", play: "▶", print: "🖨", refresh: "⟳", search: "🔍", send: "➤", settings: "⚙", share: "⇪", shoppingCart: "🛒",
  skipNext: "⏭", skipPrevious: "⏮", star: "★", starHalf: "⯪", starOff: "☆", stop: "⏹", upload: "⬆", visibility: "👁",
  volumeUp: "🔊", warning: "⚠",
};

define("Text", (node, painter) => {
  const text = said(painter, node, "text");
  const level = /^h([1-5])$/.exec(String(node.properties.variant))?.[1];
  if (level) return html`<div class="h h${level}" role="heading" aria-level=${level}>${text}</div>`;
  if (node.properties.variant === "caption") return html`<small class="quiet">${text}</small>`;
  return html`<div class="prose">${guard([text], () => markdown(text))}</div>`;
});
define("Markdown", (node, painter) => {
  const text = said(painter, node, "text");
  return html`<div class="prose">${guard([text], () => markdown(text))}</div>`;
});
define("Icon", (node, painter) => {
  const name = said(painter, node, "name");
  return html`<span class="icon" role="img" aria-label=${name}>${ICONS[name] ?? `[${name}]`}</span>`;
});

function elsewhere(kind: string) {
  return (node: Node, painter: Painter) => html`<figure>
    <figcaption>${t(kind)}${describe(painter, node)}</figcaption>
    <span class="mono quiet">${said(painter, node, "url")}</span>
    <small class="quiet">${t("What is elsewhere is not loaded.")}</small>
  </figure>`;
}

function describe(painter: Painter, node: Node) {
  const about = said(painter, node, "description");
  return about ? `: ${about}` : nothing;
}

define("Image", elsewhere("picture"));
define("Video", elsewhere("video"));
define("AudioPlayer", elsewhere("sound"));
