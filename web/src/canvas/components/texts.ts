/**
 * The basic catalogue: text and media. Nothing is loaded from elsewhere: a picture or sound from elsewhere is shown as
 * its address.
 */
import { html, nothing } from "lit";
import { guard } from "lit/directives/guard.js";
import { t } from "../../link";
import { markdown } from "../../parts/markdown";
import "../../parts/picture";
import { define, type Node, type Painter } from "../model";
import { textProperty, text } from "../values";

const ICONS: Record<string, string> = {
  accountCircle: "👤",
  add: "＋",
  arrowBack: "←",
  arrowForward: "→",
  attachFile: "📎",
  calendarToday: "📅",
  call: "📞",
  camera: "📷",
  check: "✓",
  close: "✕",
  delete: "🗑",
  download: "⬇",
  edit: "✎",
  error: "⛔",
  event: "📅",
  favorite: "♥",
  favoriteOff: "♡",
  folder: "📁",
  help: "?",
  home: "⌂",
  info: "ℹ",
  locationOn: "📍",
  lock: "🔒",
  lockOpen: "🔓",
  mail: "✉",
  menu: "☰",
  moreHoriz: "⋯",
  moreVert: "⋮",
  notifications: "🔔",
  pause: "⏸",
  payment: "💳",
  person: "👤",
  phone: "📞",
  photo: "🖼",
  play: "▶",
  print: "🖨",
  refresh: "⟳",
  search: "🔍",
  send: "➤",
  settings: "⚙",
  share: "⇪",
  shoppingCart: "🛒",
  skipNext: "⏭",
  skipPrevious: "⏮",
  star: "★",
  starHalf: "⯪",
  starOff: "☆",
  stop: "⏹",
  upload: "⬆",
  visibility: "👁",
  volumeUp: "🔊",
  warning: "⚠",
};

function markdownBlock(words: string) {
  return html`<div class="prose">${guard([words], () => markdown(words))}</div>`;
}

define("Text", (node, painter) => {
  const words = textProperty(painter, node, "text");
  const level = /^h([1-5])$/.exec(String(node.properties.variant))?.[1];
  if (level) return html`<div class="h h${level}" role="heading" aria-level=${level}>${words}</div>`;
  if (node.properties.variant === "caption") return html`<small class="quiet">${words}</small>`;
  return markdownBlock(words);
});
define("Markdown", (node, painter) => markdownBlock(textProperty(painter, node, "text")), { fills: true });
define("Icon", (node, painter) => {
  const name = textProperty(painter, node, "name");
  return html`<span class="icon" role="img" aria-label=${name}
    >${Object.hasOwn(ICONS, name) ? ICONS[name] : `[${name}]`}</span
  >`;
});

/** An address as a link: the page itself never loads it. */
function address(url: string) {
  const isOpen = /^https?:\/\//i.test(url);
  return isOpen
    ? html`<a class="mono" href=${url} target="_blank" rel="noopener noreferrer">${url}</a>`
    : html`<span class="mono quiet">${url}</span>`;
}

function externalMedia(kind: string) {
  return (node: Node, painter: Painter) => {
    const about = textProperty(painter, node, "description");
    const poster = textProperty(painter, node, "posterUrl");
    return html`<figure class="elsewhere">
      <figcaption>${t(kind)}${about ? `: ${about}` : nothing}</figcaption>
      ${address(textProperty(painter, node, "url"))} ${poster ? address(poster) : nothing}
      <small class="quiet">${t("External content is not loaded.")}</small>
    </figure>`;
  };
}

define("Image", (node, painter) => {
  const url = textProperty(painter, node, "url");
  if (!url.startsWith("data:")) return externalMedia("picture")(node, painter);
  const { fit, variant } = node.properties;
  return html`<dragoman-picture
    class="picture ${text(variant)}"
    .url=${url}
    .label=${textProperty(painter, node, "description")}
    .fit=${text(fit)}
  ></dragoman-picture>`;
});
define("Video", externalMedia("video"));
define("AudioPlayer", externalMedia("sound"));
