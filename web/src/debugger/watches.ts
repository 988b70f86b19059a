/** Expressions that a person keeps an eye on. They outlive the page: nothing typed is lost. */
import { call } from "../link";
import type { Node } from "./values";

const KEY = "watches";

export class Watches {
  nodes: Node[] = load().map((name) => unread(name));

  constructor(private readonly changed: () => void) {}

  add(expression: string): void {
    if (!expression || this.nodes.some(({ name }) => name === expression)) return;
    this.keep([...this.nodes, unread(expression)]);
  }

  remove(expression: string): void {
    this.keep(this.nodes.filter(({ name }) => name !== expression));
  }

  forgetValues(): void {
    if (this.nodes.some(({ value }) => value)) this.nodes = this.nodes.map(({ name }) => unread(name));
  }

  async evaluate(at: { session_id: string; frame_id: number } | null): Promise<void> {
    if (!at || !this.nodes.length) return;
    const wanted = this.nodes.map(({ name }) => name);
    const found = await Promise.all(wanted.map((name) => evaluated(name, at)));
    this.nodes = this.nodes.map((node) => found.find(({ name }) => name === node.name) ?? node);
    this.changed();
  }

  private keep(nodes: Node[]): void {
    this.nodes = nodes;
    localStorage.setItem(KEY, JSON.stringify(nodes.map(({ name }) => name)));
    this.changed();
  }
}

async function evaluated(name: string, at: { session_id: string; frame_id: number }): Promise<Node> {
  const { data, text, is_error } = await call("evaluate_expression", { ...at, expression: name, context: "watch" });
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
