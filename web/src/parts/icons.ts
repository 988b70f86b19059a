/** Icons of our own, drawn in one 16-pixel grid with the colour of the text around them. */
import { svg, html } from "lit";

const SHAPES = {
  flag: svg`<path d="M4 2.5v11M4 3.5h8l-1.8 2.7L12 9H4" />`,
  list: svg`<path d="M6 4h7.5M6 8h7.5M6 12h7.5M2.8 4h.01M2.8 8h.01M2.8 12h.01" />`,
  evidence: svg`<circle cx="7" cy="7" r="4.2" /><path d="M10.2 10.2 13.5 13.5M5.2 7.2h1l.8-1.8.8 3 .6-1.2h.6" />`,
  check: svg`<path d="M3.5 8.5 6.5 11.5 12.5 4.5" />`,
  bug: svg`<path d="M5.5 6.5a2.5 2.5 0 0 1 5 0v3a2.5 2.5 0 0 1-5 0zM6 4.5 4.8 3M10 4.5 11.2 3M5.5 8H2.5M13.5 8h-3M5.7 10.7 3.5 13M10.3 10.7l2.2 2.3" />`,
  terminal: svg`<path d="M2.5 3.5h11v9h-11zM5 6.5 7 8.25 5 10M8.5 10.5H11" />`,
  chat: svg`<path d="M2.5 3.5h11v7.5H7.5L4.5 13.5V11h-2z" />`,
  canvas: svg`<path d="M2.5 3.5h11v9h-11zM4.5 10.5 7 7.5l2 2 1.5-1.5 1.5 2.5M10.5 6h.01" />`,
  plug: svg`<path d="M6 2.5v3M10 2.5v3M4.5 5.5h7v2a3.5 3.5 0 0 1-7 0zM8 11v2.5" />`,
  gear: svg`<circle cx="8" cy="8" r="2" /><path d="M8 2v2M8 12v2M2 8h2M12 8h2M3.8 3.8l1.4 1.4M10.8 10.8l1.4 1.4M12.2 3.8l-1.4 1.4M5.2 10.8l-1.4 1.4" />`,
  stop: svg`<path d="M4.5 4.5h7v7h-7z" />`,
  dot: svg`<circle cx="8" cy="8" r="3.5" />`,
  play: svg`<path d="M5 3.5 12 8 5 12.5z" />`,
  pause: svg`<path d="M5.5 3.5v9M10.5 3.5v9" />`,
  step: svg`<path d="M2.5 8a4.5 4.5 0 0 1 8.5-2M11.5 3v3.2H8.3M8 12.5h.01" />`,
  eye: svg`<path d="M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8z" /><circle cx="8" cy="8" r="1.8" />`,
  pencil: svg`<path d="M3 13l.6-2.6L10.8 3.2l2 2-7.2 7.2zM9.3 4.7l2 2" />`,
  cross: svg`<path d="M4 4l8 8M12 4l-8 8" />`,
  shield: svg`<path d="M8 2 3.5 3.8v3.7c0 3 1.9 5.2 4.5 6.5 2.6-1.3 4.5-3.5 4.5-6.5V3.8z" />`,
  question: svg`<path d="M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.3 8.6 8 9 8 9.8M8 12.5h.01" />`,
} as const;

export type IconName = keyof typeof SHAPES;

/** For the eye alone: what it means stands in words beside it. */
export function icon(name: IconName, size = 16) {
  return html`<svg
    class="icon"
    width=${size}
    height=${size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    stroke-width="1.4"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    ${SHAPES[name]}
  </svg>`;
}
