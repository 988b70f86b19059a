/** The entry: puts the parts together. Nothing here waits, so that the editor starts as fast as without us. */
import * as vscode from "vscode";

import { Bridge } from "./bridge/bridge";
import { findPlaces } from "./daemon/places";
import { DaemonWatcher } from "./daemon/daemonWatcher";
import { definitions, registerWithAgents } from "./server/agents";
import { registerCommands } from "./server/commands";
import { GatewayControl } from "./server/gatewayControl";
import { ProgramFinder } from "./server/programFinder";
import { Server } from "./server/server";
import { showStatus } from "./server/statusBar";
import { SessionSharing } from "./sharing/sessionSharing";
import { MirroredBreakpoints } from "./debug/mirroredBreakpoints";
import { StopCountdown } from "./debug/stopCountdown";
import { registerDebugType } from "./debug/debugType";
import { offerSessions } from "./debug/sessionOffers";
import { registerViews } from "./views/register";

/** Before the first line of ours: the bundler puts it at the head of the file. */
declare const loadedAt: { cpu: NodeJS.CpuUsage; clock: number };

/** The API for tests and other extensions. */
export interface Exported {
  readonly server: Server;
  /** What the editor's own agent learns about Dragoman. */
  definitions(): Promise<vscode.McpStdioServerDefinition[]>;
  /** Since our code began to run: of the processor's time, which a busy machine does not lengthen, and by the clock. */
  readonly activatedWithinMs: { cpu: number; clock: number };
}

export function activate(context: vscode.ExtensionContext): Exported {
  const log = vscode.window.createOutputChannel("Dragoman", { log: true });
  const watch = new DaemonWatcher(findPlaces(), vscode.env.language);
  const programs = new ProgramFinder(context.globalStorageUri, context.extensionUri);
  const server = new Server(watch, programs, context.globalState, log);
  context.subscriptions.push(log, watch, programs, server);
  context.subscriptions.push(showStatus(server), registerCommands(server), registerWithAgents(programs));
  context.subscriptions.push(
    registerDebugType(server),
    new MirroredBreakpoints(context.workspaceState),
    new StopCountdown(),
    offerSessions(server),
    registerViews(server, context),
  );
  const bridge = new Bridge(watch, context.workspaceState);
  context.subscriptions.push(
    bridge,
    new SessionSharing(bridge, context.workspaceState),
    new GatewayControl(bridge, server, context.secrets),
  );
  watch.start();
  void server.autoStart();
  const { user, system } = process.cpuUsage(loadedAt.cpu);
  const activatedWithinMs = { cpu: (user + system) / 1000, clock: performance.now() - loadedAt.clock };
  return { server, definitions: () => definitions(programs), activatedWithinMs };
}
