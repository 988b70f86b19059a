import type { CSSResult } from "lit";

/** A surface as the daemon resolved it: a tree with its bindings read. */
export interface Node {
  id: string;
  component_id: string;
  slot: string;
  state: "ready" | "pending" | "cut";
  type: string;
  scope: string;
  properties: Record<string, unknown>;
  /** Property -> its path in the surface's data. */
  bindings: Record<string, string>;
  children: Node[];
}

export interface Surface {
  drawer: string;
  workspace: string;
  surface_id: string;
  title: string;
  /** Whether an agent waits for an answer on it. */
  asking: "no" | "open" | "closed";
  version: number;
  changed_ms: number;
  tree: Node | null;
  data: unknown;
  /** Component -> what acting on it is called; an older daemon does not say. */
  actions?: Record<string, string>;
}

/** What a component may ask of the surface that it is drawn on. */
export interface Painter {
  /** The current value of a property: the person's input overrides what the agent sent. */
  value(node: Node, name: string): unknown;
  /** Why the input is invalid, or why a button cannot be pressed now. */
  objections(node: Node): string[];
  /** The values that the person entered; kept here, and sent with the next action. */
  enter(node: Node, name: string, value: unknown): void;
  /** Send what the person did to the agent; return whether it was sent. One action at a time. */
  act(node: Node, details?: Record<string, unknown>): Promise<boolean>;
  /** The children in one place, or all of them. */
  inside(node: Node, slot?: string): unknown;
  /** The state of a component while its surface exists: an open tab, an order of rows. */
  memory<T extends object>(node: Node, initial: T): T;
  /** The name of the agent that drew this. */
  readonly drawer: string;
  /** Whether the person answered this since it was last drawn. */
  isAnswered(node: Node): boolean;
  setAnswered(node: Node, isAnswered: boolean): void;
  /** Whether an action is on its way. */
  readonly isBusy: boolean;
  redraw(): void;
}

export type RenderComponent = (node: Node, painter: Painter) => unknown;

interface Component {
  draw: RenderComponent;
  /** Whether it takes all the width that it can get. */
  fills: boolean;
}

const COMPONENTS = new Map<string, Component>();
const STYLES: CSSResult[] = [];

/** `looks` are for classes of its own; the surface has one style sheet for all. */
export function define(
  type: string,
  draw: RenderComponent,
  { fills = false, looks }: { fills?: boolean; looks?: CSSResult } = {},
): void {
  COMPONENTS.set(type, { draw, fills });
  if (looks) STYLES.push(looks);
}

export function componentOf(type: string): Component | undefined {
  return COMPONENTS.get(type);
}

export function componentStyles(): CSSResult[] {
  return STYLES;
}
