/** Expressions that a person keeps an eye on. They outlive the page: nothing typed is lost. */
import { changeWatches, keptWatches, unlessAway } from "../link";
import type { Node } from "./values";
import { callIn } from "./tools";

export interface Spot {
  workspace: string;
  session_id: string;
  frame_id: number;
}

export class Watches {
  nodes: Node[] = [];
  private round = 0;
  private readonly isLoaded: Promise<void>;

  constructor(private readonly changed: () => void) {
    this.isLoaded = this.keep(keptWatches());
  }

  /** At a stop of before nothing can be evaluated: what is so now is not shown as if it had been. */
  get unread(): Node[] {
    return this.nodes.map(({ name }) => unread(name));
  }

  add(expression: string): void {
    if (!expression) return;
    this.show([...this.nodes.map(({ name }) => name), expression]);
    void this.keep(changeWatches({ watch: expression }));
  }

  remove(expression: string): void {
    this.nodes = this.nodes.filter(({ name }) => name !== expression);
    this.changed();
    void this.keep(changeWatches({ unwatch: expression }));
  }

  forgetValues(): void {
    this.round++;
    if (this.nodes.some(({ value }) => value)) this.nodes = this.unread;
  }

  async evaluate(at: Spot | null): Promise<void> {
    await this.isLoaded;
    if (!at || !this.nodes.length) return;
    const round = ++this.round; // what comes late, of an earlier stop, is not shown at this one
    const found = await Promise.all(this.nodes.map(({ name }) => evaluated(name, at)));
    if (round !== this.round) return;
    this.nodes = this.nodes.map((node) => found.find(({ name }) => name === node.name) ?? node);
    this.changed();
  }

  /** As the daemon has them: another tab may have changed them. */
  private async keep(kept: Promise<string[]>): Promise<void> {
    try {
      this.show(await kept);
    } catch (error) {
      unlessAway(error);
    }
  }

  private show(names: string[]): void {
    this.nodes = [...new Set(names)].map((name) => this.nodes.find((it) => it.name === name) ?? unread(name));
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
