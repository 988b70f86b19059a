/** The editor's own agents learn of the server: VS Code's by its API, Cursor's by its own. Both only where present. */
import * as vscode from "vscode";

import type { Dragoman } from "../daemon/command";
import { folderPaths, type ProgramFinder } from "../server/programFinder";

interface CursorServer {
  name: string;
  server: { command: string; args: string[]; env: Record<string, string> };
}

interface Cursor {
  mcp?: { registerServer?(server: CursorServer): void; unregisterServer?(name: string): void };
}

const NAME = "dragoman";

export function registerWithAgents(programs: ProgramFinder): vscode.Disposable {
  return vscode.Disposable.from(...withEditor(programs), ...withCursor(programs));
}

/**
 * Over stdio, which needs no secret and no port: the pump finds the daemon wherever it moves, and starts it where none
 * runs.
 */
function withEditor(programs: ProgramFinder): vscode.Disposable[] {
  if (typeof vscode.lm?.registerMcpServerDefinitionProvider !== "function") return [];
  const provider: vscode.McpServerDefinitionProvider<vscode.McpStdioServerDefinition> = {
    onDidChangeMcpServerDefinitions: programs.onDidChange,
    provideMcpServerDefinitions: () => definitions(programs),
  };
  return [vscode.lm.registerMcpServerDefinitionProvider(NAME, provider)];
}

export async function definitions(programs: ProgramFinder): Promise<vscode.McpStdioServerDefinition[]> {
  const dragoman = await programs.find();
  if (!dragoman) return [];
  const { command, args } = mcpCommand(dragoman);
  return [new vscode.McpStdioServerDefinition("Dragoman", command, args, homeVariable(), dragoman.program.version)];
}

function withCursor(programs: ProgramFinder): vscode.Disposable[] {
  const { mcp } = (vscode as unknown as { cursor?: Cursor }).cursor ?? {};
  if (typeof mcp?.registerServer !== "function") return [];
  const register = async () => {
    const dragoman = await programs.find();
    if (dragoman) mcp.registerServer?.({ name: NAME, server: { ...mcpCommand(dragoman), env: homeVariable() } });
  };
  void register();
  return [programs.onDidChange(register), new vscode.Disposable(() => mcp.unregisterServer?.(NAME))];
}

function mcpCommand({ program }: Dragoman): { command: string; args: string[] } {
  const workspace = folderPaths()[0];
  return { command: program.path, args: [...program.args, "mcp", ...(workspace ? ["--workspace", workspace] : [])] };
}

/** The daemon that an environment variable selects. */
function homeVariable(): Record<string, string> {
  const home = process.env.DRAGOMAN_HOME;
  return home ? { DRAGOMAN_HOME: home } : {};
}
