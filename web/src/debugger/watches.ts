/** Expressions that a person keeps an eye on. They outlive the page: nothing typed is lost. */
import type { Node } from "./values";
import { callIn } from "./tools";

const KEY = "watches";

export interface Spot {
  workspace: string;
  session_id: string;
  frame_id: number;
}

export class Watches {
  nodes: Node[] = load().map((name) => unread(name));
  private round = 0;

  constructor(private readonly changed: () => void) {}

  /** At a stop of before nothing can be evaluated: what is so now is not shown as if it had been. */
  get unread(): Node[] {
    return this.nodes.map(({ name }) => unread(name));
  }

  add(expression: string): void {
    if (!expression) return;
    const names = new Set([...this.nodes.map(({ name }) => name), ...load(), expression]); // another tab may have added some
    this.keep([...names].map((name) => this.nodes.find((it) => it.name === name) ?? unread(name)));
  }

  remove(expression: string): void {
    this.keep(this.nodes.filter(({ name }) => name !== expression));
  }

  forgetValues(): void {
    this.round++;
    if (this.nodes.some(({ value }) => value)) this.nodes = this.unread;
  }

  async evaluate(at: Spot | null): Promise<void> {
    if (!at || !this.nodes.length) return;
    const round = ++this.round; // what comes late, of an earlier stop, is not shown at this one
    const found = await Promise.all(this.nodes.map(({ name }) => evaluated(name, at)));
    if (round !== this.round) return;
    this.nodes = this.nodes.map((node) => found.find(({ name }) => name === node.name) ?? node);
    this.changed();
  }

  private keep(nodes: Node[]): void {
    this.nodes = nodes;
    localStorage.setItem(KEY, JSON.stringify(nodes.map(({ name }) => name)));
    this.changed();
  }
}

async function evaluated(name: string, { workspace, ...at }: Spot): Promise<Node> {
  const { data, text, is_error } = await callIn(workspace, "evaluate_expression", { ...at, expression: name, context: "watch" });
  if (is_error) return { ...unread(name), value: String(data["debugger_says"] ?? data["message"] ?? text), isBad: true };
  const type = typeof data["type"] === "string" ? data["type"] : "";
  return { name, value: String(data["result"]), type, reference: Number(data["variables_reference"]) };
}

function unread(name: string): Node {
  return { name, value: "", type: "", reference: 0 };
}

function load(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((it) => typeof it === "string") : [];
  } catch {
    return [];
  }
}
