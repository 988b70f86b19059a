/** Terminals that agents type into: our own, each used again by its name. What runs in a person's is not theirs. */
import * as vscode from "vscode";

import type { Json } from "./rpcConnection";

export class AgentTerminals implements vscode.Disposable {
  private readonly terminals = new Map<string, vscode.Terminal>();
  private readonly closing = vscode.window.onDidCloseTerminal((terminal) => this.closed(terminal));

  dispose(): void {
    this.closing.dispose();
  }

  run(name: string, command: string, cwd: string): Json {
    const terminal = this.terminals.get(name) ?? vscode.window.createTerminal({ name, cwd });
    this.terminals.set(name, terminal);
    terminal.show(true);
    terminal.sendText(command, true);
    return { terminal: name };
  }

  private closed(terminal: vscode.Terminal): void {
    for (const [name, known] of this.terminals) if (known === terminal) this.terminals.delete(name);
  }
}
