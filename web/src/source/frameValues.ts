/** What the variables of the shown frame hold: read once at each stop, for the ends of lines and for hovering. */
import type { Load, VariableNode } from "../debugger/variables/variableTree";
import type { Scope, Variable } from "../debugger/toolResults";
import type { ToolResult } from "../link";
import type { Language } from "./languages";
import type { ValuePath } from "./valuePath";

type CallTool = (tool: string, args: Record<string, unknown>) => Promise<ToolResult>;

export interface FrameAddress {
  session_id: string;
  frame_id: number;
}

const MOST = 100;
const MOST_SCOPES = 3;
const OUTER = /global|static|register/i;
/** Their debuggers read members without running the program: JavaScript's refuses what has side effects. */
const READ_SAFELY = new Set<Language>(["javascript", "jsx", "typescript", "tsx", "go", "cpp", "rust"]);

export class FrameValues {
  locals: ReadonlyMap<string, VariableNode> = new Map();
  /** Stays while the program runs, so that the next stop can be compared with this one. */
  private lastRead = this.locals;
  /** The frame whose values these are; without one, they are of a stop that is over. */
  private frame: FrameAddress | null = null;
  private scopes: readonly Scope[] = [];
  private context = "";
  private round = 0;

  constructor(
    private readonly callTool: CallTool,
    readonly load: Load,
    private readonly changed: () => void,
  ) {}

  /** Of a past stop, or none. */
  set(nodes: readonly VariableNode[]): void {
    this.round++;
    this.frame = null;
    this.locals = new Map(nodes.map((it) => [it.name, it]));
  }

  /** Values are compared with earlier ones of the same `context`. */
  async read(frame: FrameAddress, scopes: readonly Scope[], context: string): Promise<void> {
    const round = ++this.round;
    const inner = scopes.filter(({ name, expensive }) => !expensive && !OUTER.test(name)).slice(0, MOST_SCOPES);
    const pages = await Promise.all(
      inner.map((it) => this.load(it.variables_reference, 0, MOST, "").catch(() => null)),
    );
    if (round !== this.round) return;
    const before = context === this.context ? this.lastRead : new Map<string, VariableNode>();
    const read = pages.flatMap((page) => page?.variables ?? []).reverse(); // an inner one hides an outer one
    this.locals = new Map(read.map((it) => [it.name, nodeOf(it, before.get(it.name))]));
    this.lastRead = this.locals;
    [this.frame, this.scopes, this.context] = [frame, scopes, context];
    this.changed();
  }

  /**
   * The value of a path, without running code of the program: in Python, a property would be called by reading it, so
   * attributes are looked up as they are stored.
   */
  async find(path: ValuePath, language: Language | undefined): Promise<VariableNode | null> {
    const isName = path.names.length === 1;
    const root = this.locals.get(path.root) ?? (await this.findOutside(path.root));
    if (!root || isName || !this.frame) return root;
    if (language && READ_SAFELY.has(language)) return (await this.evaluate(path.text, path.text)) ?? root;
    if (language === "python" && path.names.length) return (await this.evaluate(path.text, stored(path.names))) ?? root;
    return root;
  }

  private async findOutside(name: string): Promise<VariableNode | null> {
    for (const { variables_reference, expensive } of this.frame ? this.scopes : []) {
      if (expensive) continue;
      const args = { session_id: this.frame!.session_id, variables_reference, filter: name, count: MOST };
      const { data, is_error } = await this.callTool("get_variables", args);
      const found = is_error ? undefined : (data["variables"] as Variable[]).find((it) => it.name === name);
      if (found) return nodeOf(found, undefined);
    }
    return null;
  }

  private async evaluate(name: string, expression: string): Promise<VariableNode | null> {
    const args = { ...this.frame, expression, context: "hover" };
    const { data, is_error } = await this.callTool("evaluate_expression", args);
    if (is_error) return null;
    const type = typeof data["type"] === "string" ? data["type"] : "";
    return { name, value: String(data["result"]), type, reference: Number(data["variables_reference"]) };
  }
}

function nodeOf({ name, value, type, variables_reference }: Variable, old: VariableNode | undefined): VariableNode {
  const isChanged = old !== undefined && old.value !== value;
  return { name, value, type: type ?? "", reference: variables_reference, isChanged };
}

function stored([root, ...names]: string[]): string {
  return names.reduce((inner, name) => `__import__("inspect").getattr_static(${inner}, "${name}")`, root!);
}
