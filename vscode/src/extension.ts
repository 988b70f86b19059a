/** The entry: puts the parts together. Nothing here waits, so that the editor starts as fast as without us. */
import * as vscode from "vscode";

import { Bridge } from "./bridge/bridge";
import { findPlaces } from "./daemon/places";
import { Watch } from "./daemon/watch";
import { definitions, registerWithAgents } from "./manage/agents";
import { registerCommands } from "./manage/commands";
import { GatewayControl } from "./manage/gateway";
import { Programs } from "./manage/program";
import { Server } from "./manage/server";
import { showStatus } from "./manage/statusBar";
import { Sharing } from "./sharing/sharing";
import { Breakpoints } from "./together/breakpoints";
import { registerDebugging } from "./together/debugging";
import { offerSessions } from "./together/offering";
import { registerViews } from "./views/register";

/** Before the first line of ours: the bundler puts it at the head of the file. */
declare const loadedAt: { cpu: NodeJS.CpuUsage; clock: number };

/** What tests and other extensions may use. */
export interface Exported {
  readonly server: Server;
  /** What the editor's own agent is told of us. */
  definitions(): Promise<vscode.McpStdioServerDefinition[]>;
  /** Since our code began to run: of the processor's time, which a busy machine does not lengthen, and by the clock. */
  readonly activatedWithinMs: { cpu: number; clock: number };
}

export function activate(context: vscode.ExtensionContext): Exported {
  const log = vscode.window.createOutputChannel("Dragoman", { log: true });
  const watch = new Watch(findPlaces(), vscode.env.language);
  const programs = new Programs(context.globalStorageUri, context.extensionUri);
  const server = new Server(watch, programs, context.globalState, log);
  context.subscriptions.push(log, watch, programs, server);
  context.subscriptions.push(showStatus(server), registerCommands(server), registerWithAgents(programs));
  context.subscriptions.push(registerDebugging(server), new Breakpoints(context.workspaceState), offerSessions(server), registerViews(server, context));
  const bridge = new Bridge(watch, context.workspaceState);
  context.subscriptions.push(bridge, new Sharing(bridge, context.workspaceState), new GatewayControl(bridge, server, context.secrets));
  watch.begin();
  void server.startByItself();
  const { user, system } = process.cpuUsage(loadedAt.cpu);
  const activatedWithinMs = { cpu: (user + system) / 1000, clock: performance.now() - loadedAt.clock };
  return { server, definitions: () => definitions(programs), activatedWithinMs };
}
