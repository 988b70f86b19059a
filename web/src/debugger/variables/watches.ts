/** Expressions that a person keeps an eye on. They outlive the page: nothing typed is lost. */
import { changeWatches, savedWatches, ignoreUnreachable } from "../../link";
import type { VariableNode } from "./variableTree";
import { callToolIn } from "../tools";

export interface FrameContext {
  workspace: string;
  session_id: string;
  frame_id: number;
}

export class Watches {
  nodes: VariableNode[] = [];
  private round = 0;
  private readonly isLoaded: Promise<void>;

  constructor(private readonly changed: () => void) {
    this.isLoaded = this.load(savedWatches());
  }

  /** Nothing can be evaluated at a past stop, and current values must not be shown as if they were old ones. */
  get emptyNodes(): VariableNode[] {
    return this.nodes.map(({ name }) => emptyNode(name));
  }

  add(expression: string): void {
    if (!expression) return;
    this.setNames([...this.nodes.map(({ name }) => name), expression]);
    void this.load(changeWatches({ watch: expression }));
  }

  remove(expression: string): void {
    this.nodes = this.nodes.filter(({ name }) => name !== expression);
    this.changed();
    void this.load(changeWatches({ unwatch: expression }));
  }

  forgetValues(): void {
    this.round++;
    if (this.nodes.some(({ value }) => value)) this.nodes = this.emptyNodes;
  }

  async evaluate(at: FrameContext | null): Promise<void> {
    const round = ++this.round; // what comes late, of an earlier stop, is not shown at this one
    await this.isLoaded;
    // A later call evaluates everything that was added in the meantime: each expression runs in the program once per
    // stop.
    if (round !== this.round || !at || !this.nodes.length) return;
    const found = await Promise.all(this.nodes.map(({ name }) => evaluateNode(name, at)));
    if (round !== this.round) return;
    this.nodes = this.nodes.map((node) => found.find(({ name }) => name === node.name) ?? node);
    this.changed();
  }

  /** The expressions that the daemon has: another tab may have changed them. */
  private async load(kept: Promise<string[]>): Promise<void> {
    try {
      this.setNames(await kept);
    } catch (error) {
      ignoreUnreachable(error);
    }
  }

  private setNames(names: string[]): void {
    this.nodes = [...new Set(names)].map((name) => this.nodes.find((it) => it.name === name) ?? emptyNode(name));
    this.changed();
  }
}

async function evaluateNode(name: string, { workspace, ...at }: FrameContext): Promise<VariableNode> {
  const { data, text, is_error } = await callToolIn(workspace, "evaluate_expression", {
    ...at,
    expression: name,
    context: "watch",
  });
  if (is_error)
    return { ...emptyNode(name), value: String(data["debugger_says"] ?? data["message"] ?? text), isBad: true };
  const type = typeof data["type"] === "string" ? data["type"] : "";
  return { name, value: String(data["result"]), type, reference: Number(data["variables_reference"]) };
}

function emptyNode(name: string): VariableNode {
  return { name, value: "", type: "", reference: 0 };
}
