/** Icons of the replay: drawn, so that they look alike on every machine. */
import { svg } from "lit";

const PATHS = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  previous: "M3 3h2v10H3zM13 3v10L6 8z",
  next: "M11 3h2v10h-2zM3 3v10l7-5z",
  closer: "M7 2h2v5h5v2H9v5H7V9H2V7h5z",
  farther: "M2 7h12v2H2z",
  whole: "M1 3h1.6v10H1zM13.4 3H15v10h-1.6zM4 7.2h1.5V5L8 8l-2.5 3V8.8H4zM12 7.2h-1.5V5L8 8l2.5 3V8.8H12z",
  save: "M7.2 2h1.6v6l2.1-2.1L12 7l-4 4-4-4 1.1-1.1L7.2 8zM2.5 12.4h11V14h-11z",
  chart: "M2 13.5h12V15H1V2h1.5zM4 10l3-4 2.5 2.5L13 3l1.2.9-4.6 7L7.1 8.3l-2 2.6z",
} as const;

export function icon(name: keyof typeof PATHS) {
  return svg`<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" fill="currentColor"><path d=${PATHS[name]} /></svg>`;
}
