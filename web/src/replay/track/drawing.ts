/** Draws the track of a timeline: lanes with what happened in them, in the part of the replay that is in sight. */
import type { Lane } from "./lanes";
import type { EntryKind, TimelineEntry } from "../timelineEntries";
import { durationText, tickStep, type TimeScale, type Viewport } from "../timeScale";

export const LANE_HEIGHT = 26;
export const AXIS_HEIGHT = 20;

export interface Palette {
  ink: string;
  quiet: string;
  line: string;
  raised: string;
  card: string;
  accent: string;
  bad: string;
  good: string;
  warn: string;
  mono: string;
  /** Of the lanes; the first is the program's. */
  actors: readonly string[];
}

export interface TrackContent {
  entries: readonly TimelineEntry[];
  scale: TimeScale;
  lanes: readonly Lane[];
  laneOf: Uint8Array;
  view: Viewport;
  /** The index of the moment that is shown; -1 at the present. */
  shown: number;
  hovered: number;
  /** Every entry that a search found, or null without one. */
  found: ReadonlySet<number> | null;
}

/** What is drawn above the rest where both do not fit. */
const RANK: Record<EntryKind, number> = {
  output: 0,
  run: 1,
  breakpoint: 2,
  evaluation: 3,
  change: 4,
  presence: 4,
  trace: 5,
  question: 6,
  stop: 7,
  start: 8,
  end: 8,
};
/** Marks that are closer than this lie on each other: one of them is drawn. */
const CLOSE = 5;

/** Room for the first and the last mark. */
const EDGE = 8;

export function xOf(position: number, { from, to }: Viewport, width: number): number {
  return EDGE + ((position - from) / Math.max(to - from, 1e-9)) * (width - 2 * EDGE);
}

export function positionOf(x: number, { from, to }: Viewport, width: number): number {
  return from + ((x - EDGE) / Math.max(width - 2 * EDGE, 1)) * (to - from);
}

export function drawTrack(context: CanvasRenderingContext2D, content: TrackContent, palette: Palette): void {
  const { canvas } = context;
  const ratio = canvas.width / Math.max(1, canvas.clientWidth);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  drawAxis(context, content, palette, width, height);
  drawProgram(context, content, palette, width);
  drawMarks(context, content, palette, width);
  if (content.hovered >= 0) drawLine(context, content, content.hovered, palette.quiet, width, height, false);
  if (content.shown >= 0) drawLine(context, content, content.shown, palette.accent, width, height, true);
}

function drawAxis(
  context: CanvasRenderingContext2D,
  { lanes, view, scale }: TrackContent,
  palette: Palette,
  width: number,
  height: number,
): void {
  context.fillStyle = palette.raised;
  lanes.forEach((_, index) => {
    if (index % 2) context.fillRect(0, AXIS_HEIGHT + index * LANE_HEIGHT, width, LANE_HEIGHT);
  });
  context.font = `11px ${palette.mono}`;
  context.textBaseline = "middle";
  context.lineWidth = 1;
  const step = tickStep(view.to - view.from, width / 90);
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
    const x = Math.round(xOf(at, view, width)) + 0.5;
    context.strokeStyle = palette.line;
    line(context, x, AXIS_HEIGHT - 5, x, height);
    context.fillStyle = palette.quiet;
    context.fillText(at ? durationText(at) : "0", x + 4, AXIS_HEIGHT / 2);
  }
  context.strokeStyle = palette.line;
  line(context, 0, AXIS_HEIGHT - 0.5, width, AXIS_HEIGHT - 0.5);
  drawPauses(context, scale, view, palette, width, height);
}

/** Where a pause was cut: a dashed line; the end of the pause is where it stands. */
function drawPauses(
  context: CanvasRenderingContext2D,
  scale: TimeScale,
  view: Viewport,
  palette: Palette,
  width: number,
  height: number,
): void {
  context.strokeStyle = palette.quiet;
  context.setLineDash([2, 3]);
  let free = -Infinity;
  for (const { position } of scale.pauses) {
    const x = Math.round(xOf(position - 1000, view, width)) + 0.5;
    if (x < 0 || x > width || x < free) continue;
    free = x + 24;
    context.globalAlpha = 0.5;
    line(context, x, AXIS_HEIGHT, x, height);
  }
  context.globalAlpha = 1;
  context.setLineDash([]);
}

/** The program's lane: a band where it ran, a paler one where it stood. */
function drawProgram(
  context: CanvasRenderingContext2D,
  { entries, scale, view }: TrackContent,
  palette: Palette,
  width: number,
): void {
  const y = AXIS_HEIGHT + LANE_HEIGHT / 2;
  type ProgramState = "none" | "running" | "stopped";
  let state = "none" as ProgramState;
  let from = 0;
  const end = Math.min(entries.length, scale.indexFrom(view.to) + 1);
  let drawnTo = -1;
  const band = (to: number) => {
    const [a, b] = [Math.max(0, xOf(from, view, width)), Math.min(width, xOf(to, view, width))];
    if (state === "none" || b - Math.max(a, drawnTo) < 0.5) return;
    context.fillStyle = state === "running" ? palette.good : palette.warn;
    context.globalAlpha = state === "running" ? 0.55 : 0.28;
    context.fillRect(Math.max(a, drawnTo), y - 4, Math.max(0.5, b - Math.max(a, drawnTo)), 8);
    drawnTo = b;
  };
  for (let index = 0; index < end; index++) {
    const { kind } = entries[index]!;
    const next: ProgramState =
      kind === "start" || kind === "run" ? "running" : kind === "stop" ? "stopped" : kind === "end" ? "none" : state;
    if (next === state) continue;
    const position = scale.positions[index]!;
    if (position >= view.from) band(position);
    [state, from] = [next, position];
  }
  band(scale.length);
  context.globalAlpha = 1;
}

/** One mark for each place of a lane that is wide enough for one: ten thousand moments cost what a screen does. */
function drawMarks(
  context: CanvasRenderingContext2D,
  { entries, scale, view, lanes, laneOf, found }: TrackContent,
  palette: Palette,
  width: number,
): void {
  const cells = new Int32Array(lanes.length * (Math.ceil(width / CLOSE) + 1)).fill(-1);
  const columns = Math.ceil(width / CLOSE) + 1;
  const [first, end] = [scale.indexFrom(view.from), scale.indexFrom(view.to + 1e-6)];
  for (let index = first; index < Math.min(end + 1, entries.length); index++) {
    const x = xOf(scale.positions[index]!, view, width);
    const cell = laneOf[index]! * columns + Math.min(columns - 1, Math.max(0, Math.floor(x / CLOSE)));
    const other = cells[cell]!;
    if (other < 0 || rank(entries[index]!) >= rank(entries[other]!)) cells[cell] = index;
  }
  for (const index of cells) {
    if (index < 0) continue;
    const entry = entries[index]!;
    const lane = lanes[laneOf[index]!]!;
    context.globalAlpha = found && !found.has(index) ? 0.18 : 1;
    const x = xOf(scale.positions[index]!, view, width);
    const y = AXIS_HEIGHT + laneOf[index]! * LANE_HEIGHT + LANE_HEIGHT / 2;
    drawMark(context, entry, x, y, palette.actors[lane.colour]!, palette);
  }
  context.globalAlpha = 1;
}

function rank({ kind, isBad }: TimelineEntry): number {
  return RANK[kind] + (isBad ? 10 : 0);
}

/** Shapes differ, and not colours alone. */
export function drawMark(
  context: CanvasRenderingContext2D,
  { kind, isBad }: TimelineEntry,
  x: number,
  y: number,
  colour: string,
  palette: Palette,
): void {
  context.fillStyle = isBad ? palette.bad : colour;
  context.strokeStyle = context.fillStyle;
  context.lineWidth = 1.5;
  context.beginPath();
  switch (kind) {
    case "stop":
      diamond(context, x, y, isBad ? 7 : 5.5);
      context.fill();
      break;
    case "run":
      context.moveTo(x - 3.5, y - 4.5);
      context.lineTo(x + 4.5, y);
      context.lineTo(x - 3.5, y + 4.5);
      context.fill();
      break;
    case "evaluation":
    case "trace":
      context.rect(x - 3.5, y - 3.5, 7, 7);
      context[kind === "trace" ? "fill" : "stroke"]();
      break;
    case "output":
      context.fillStyle = palette.quiet;
      context.fillRect(x - 1, y - 8, 2, 16);
      break;
    case "start":
    case "end":
      context.fillRect(x - 1.5, y - 9, 3, 18);
      break;
    case "question":
      context.arc(x, y, 5, 0, 2 * Math.PI);
      context.stroke();
      break;
    default:
      context.arc(x, y, 3.8, 0, 2 * Math.PI);
      context.fill();
  }
}

function diamond(context: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  context.moveTo(x, y - size);
  context.lineTo(x + size, y);
  context.lineTo(x, y + size);
  context.lineTo(x - size, y);
  context.closePath();
}

function drawLine(
  context: CanvasRenderingContext2D,
  { scale, view }: TrackContent,
  index: number,
  colour: string,
  width: number,
  height: number,
  isHandle: boolean,
): void {
  const x = Math.round(xOf(scale.positions[index]!, view, width)) + (isHandle ? 0 : 0.5);
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = isHandle ? 2 : 1;
  line(context, x, isHandle ? 8 : 0, x, height);
  if (!isHandle) return;
  context.beginPath();
  context.moveTo(x - 6, 2);
  context.lineTo(x + 6, 2);
  context.lineTo(x + 6, 8);
  context.lineTo(x, 15);
  context.lineTo(x - 6, 8);
  context.closePath();
  context.fill();
}

function line(context: CanvasRenderingContext2D, fromX: number, fromY: number, toX: number, toY: number): void {
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
}
