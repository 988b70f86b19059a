/** The basic catalogue: what is read. Nothing is loaded from elsewhere: such pictures and sounds are told by their address. */
import { html, nothing } from "lit";
import { guard } from "lit/directives/guard.js";
import { t } from "../../link";
import { markdown } from "../../parts/markdown";
import "../../parts/picture";
import { define, type Node, type Painter } from "../model";
import { said, text } from "../values";

const ICONS: Record<string, string> = {
  accountCircle: "👤", add: "＋", arrowBack: "←", arrowForward: "→", attachFile: "📎", calendarToday: "📅", call: "📞",
  camera: "📷", check: "✓", close: "✕", delete: "🗑", download: "⬇", edit: "✎", error: "⛔", event: "📅", favorite: "♥",
  favoriteOff: "♡", folder: "📁", help: "?", home: "⌂", info: "ℹ", locationOn: "📍", lock: "🔒", lockOpen: "🔓", mail: "✉",
  menu: "☰", moreHoriz: "⋯", moreVert: "⋮", notifications: "🔔", pause: "⏸", payment: "💳", person: "👤", phone: "📞",
  photo: "🖼", play: "▶", print: "🖨", refresh: "⟳", search: "🔍", send: "➤", settings: "⚙", share: "⇪", shoppingCart: "🛒",
  skipNext: "⏭", skipPrevious: "⏮", star: "★", starHalf: "⯪", starOff: "☆", stop: "⏹", upload: "⬆", visibility: "👁",
  volumeUp: "🔊", warning: "⚠",
};

function prose(words: string) {
  return html`<div class="prose">${guard([words], () => markdown(words))}</div>`;
}

define("Text", (node, painter) => {
  const words = said(painter, node, "text");
  const level = /^h([1-5])$/.exec(String(node.properties.variant))?.[1];
  if (level) return html`<div class="h h${level}" role="heading" aria-level=${level}>${words}</div>`;
  if (node.properties.variant === "caption") return html`<small class="quiet">${words}</small>`;
  return prose(words);
});
define("Markdown", (node, painter) => prose(said(painter, node, "text")), { fills: true });
define("Icon", (node, painter) => {
  const name = said(painter, node, "name");
  return html`<span class="icon" role="img" aria-label=${name}>${Object.hasOwn(ICONS, name) ? ICONS[name] : `[${name}]`}</span>`;
});

/** An address to follow, for who wants to; the page itself does not. */
function address(url: string) {
  const isOpen = /^https?:\/\//i.test(url);
  return isOpen ? html`<a class="mono" href=${url} target="_blank" rel="noopener noreferrer">${url}</a>` : html`<span class="mono quiet">${url}</span>`;
}

function elsewhere(kind: string) {
  return (node: Node, painter: Painter) => {
    const about = said(painter, node, "description");
    const poster = said(painter, node, "posterUrl");
    return html`<figure class="elsewhere">
      <figcaption>${t(kind)}${about ? `: ${about}` : nothing}</figcaption>
      ${address(said(painter, node, "url"))} ${poster ? address(poster) : nothing}
      <small class="quiet">${t("What is elsewhere is not loaded.")}</small>
    </figure>`;
  };
}

define("Image", (node, painter) => {
  const url = said(painter, node, "url");
  if (!url.startsWith("data:")) return elsewhere("picture")(node, painter);
  const { fit, variant } = node.properties;
  return html`<dragoman-picture
    class="picture ${text(variant)}" .url=${url} .label=${said(painter, node, "description")} .fit=${text(fit)}
  ></dragoman-picture>`;
});
define("Video", elsewhere("video"));
define("AudioPlayer", elsewhere("sound"));
