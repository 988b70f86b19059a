/**
 * The OpenClaw gateway that the server is a client of: named in the settings, its token in the editor's secret storage,
 * its state in the status bar. The server connects; nothing here speaks to a gateway.
 */
import * as vscode from "vscode";

import type { Bridge } from "../bridge/bridge";
import type { Json } from "../bridge/rpcConnection";
import { notificationText } from "../bridge/notificationText";
import { Lifecycle } from "../daemon/lifecycle";
import { stateOf, type GatewayStatus } from "./gatewayState";
import { settings, type Server } from "../server/server";

const t = vscode.l10n.t;
export const DEFAULT_ADDRESS = "ws://127.0.0.1:18789";
/** Codes by which a gateway refuses a token. */
const WRONG_TOKEN = /token|auth|unauthorized/i;

export class GatewayControl implements vscode.Disposable {
  private status: GatewayStatus | undefined;
  private readonly item = vscode.window.createStatusBarItem("gateway", vscode.StatusBarAlignment.Right, 99);
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly bridge: Bridge,
    private readonly server: Server,
    private readonly secrets: vscode.SecretStorage,
  ) {
    bridge.handlers["gateway.state"] = async (message) => this.show(message as unknown as GatewayStatus);
    this.item.name = t("Dragoman: gateway");
    this.subscriptions = [
      this.item,
      bridge.onDidConnect(() => void this.readStatus()),
      server.onDidChange(() => this.draw()),
      vscode.commands.registerCommand("dragoman.connectGateway", () => this.connect()),
      vscode.commands.registerCommand("dragoman.disconnectGateway", () => this.disconnect()),
      vscode.commands.registerCommand("dragoman.setGatewayToken", () => this.setToken()),
    ];
    this.draw();
    this.item.show();
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private async readStatus(): Promise<void> {
    this.show(await this.bridge.request<GatewayStatus>("gateway.status", language()).catch(() => undefined));
  }

  /** Asks for the token where none is known for this gateway; nothing is one too. */
  private async connect(): Promise<void> {
    if (!this.bridge.isOpen) return void vscode.window.showInformationMessage(t("The server is not running"));
    const address = wantedAddress();
    const token = (await this.secrets.get(tokenKey(address))) ?? (await this.askForToken(address));
    if (token === undefined) return;
    this.show({ state: "connecting", address, reason: "", hint: "", code: "", untrusted_server: "" });
    try {
      const newStatus = await this.bridge.request<GatewayStatus>("gateway.connect", { address, token, ...language() });
      this.show(newStatus);
      if (newStatus) await this.explain(newStatus, address);
    } catch (error) {
      await this.readStatus();
      this.server.showError(error);
    }
  }

  private async disconnect(): Promise<void> {
    this.show(await this.bridge.request<GatewayStatus>("gateway.disconnect", language()).catch(() => undefined));
  }

  private async setToken(): Promise<void> {
    const address = wantedAddress();
    if ((await this.askForToken(address)) !== undefined && stateOf(this.status) !== "disconnected")
      await this.connect();
  }

  /**
   * Stored by the editor, encrypted, and never in the settings. An empty token counts as none: the question comes
   * again.
   */
  private async askForToken(address: string): Promise<string | undefined> {
    const prompt = t("It is kept in the editor's secret storage. Leave it empty for a gateway that needs none.");
    const token = await vscode.window.showInputBox({
      title: t("Token of the gateway {0}", address),
      prompt,
      password: true,
      ignoreFocusOut: true,
    });
    if (token) await this.secrets.store(tokenKey(address), token.trim());
    else if (token === "") await this.secrets.delete(tokenKey(address));
    return token?.trim();
  }

  /** Errors that a person can fix. */
  private async explain(
    { untrusted_server: foreign, reason, hint, code, state }: GatewayStatus,
    address: string,
  ): Promise<void> {
    if (foreign) return this.askAboutOwner(foreign);
    if (state === "connected" || state === "connecting") return;
    const again = t("Enter another token");
    const words =
      notificationText([reason, hint].filter(Boolean).join(" ")) || t("The gateway {0} is not connected.", address);
    const chosen = await vscode.window.showWarningMessage(
      words,
      ...(WRONG_TOKEN.test(`${code} ${reason}`) ? [again] : []),
    );
    if (chosen === again) await this.setToken();
  }

  /** A listener on this machine that is another user's gets no token before the person agreed, now and for later. */
  private async askAboutOwner(entry: string): Promise<void> {
    const [address = "", user = ""] = entry.split(" ");
    const send = t("Send it");
    const words = t(
      "The server at {0} belongs to the user {1}, not to you. Send it your token, now and later?",
      notificationText(address),
      notificationText(user),
    );
    if ((await vscode.window.showWarningMessage(words, { modal: true }, send)) !== send) return;
    const isKept = await this.server.withProgram(async (dragoman) => {
      const lifecycle = new Lifecycle(dragoman);
      const before = await lifecycle.setting("trusted_servers");
      await lifecycle.set(
        "trusted_servers",
        [...(Array.isArray(before) ? (before as string[]) : []), entry].join(", "),
      );
      return true;
    });
    if (isKept) await this.connect();
  }

  private show(newStatus: GatewayStatus | undefined): void {
    this.status = newStatus;
    this.draw();
  }

  private draw(): void {
    const isThere = this.server.state.state === "running";
    const state = stateOf(isThere ? this.status : undefined);
    const [icon, words] = SHOWN[state]();
    const { address = wantedAddress(), reason = "", hint = "" } = (isThere && this.status) || {};
    this.item.text = `$(${icon}) ${t("Gateway")}`;
    this.item.tooltip = notificationText([`${words}: ${address}`, reason, hint].filter(Boolean).join("\n"));
    this.item.command =
      state === "connected" || state === "connecting" ? "dragoman.disconnectGateway" : "dragoman.connectGateway";
    this.item.backgroundColor = state === "error" ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    this.item.accessibilityInformation = { label: `${t("Dragoman: gateway")}: ${words}`, role: "button" };
  }
}

const SHOWN = {
  disconnected: () => ["debug-disconnect", t("Not connected to the gateway")] as const,
  connecting: () => ["sync~spin", t("Connecting to the gateway")] as const,
  connected: () => ["plug", t("Connected to the gateway")] as const,
  error: () => ["error", t("The gateway is unavailable")] as const,
};

/** For each gateway its own: a token is sent to no other. */
function tokenKey(address: string): string {
  return `dragoman.gateway.token ${address}`;
}

function wantedAddress(): string {
  return settings().get<string>("gateway.url", "").trim() || DEFAULT_ADDRESS;
}

function language(): Json {
  return { language: vscode.env.language };
}
