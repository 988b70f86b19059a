/** The OpenClaw gateway that the server is a client of: named in the settings, its token in the editor's secret storage,
 * its state in the status bar. The server connects; nothing here speaks to a gateway. */
import * as vscode from "vscode";

import type { Bridge } from "../bridge/bridge";
import type { Json } from "../bridge/link";
import { plain } from "../bridge/plain";
import { Life } from "../daemon/life";
import { stateOf, type GatewayStanding } from "./gatewayState";
import { settings, type Server } from "./server";

const t = vscode.l10n.t;
export const DEFAULT_ADDRESS = "ws://127.0.0.1:18789";
/** A gateway that refuses a token says so by one of these. */
const WRONG_TOKEN = /token|auth|unauthorized/i;

export class GatewayControl implements vscode.Disposable {
  private standing: GatewayStanding | undefined;
  private readonly item = vscode.window.createStatusBarItem("gateway", vscode.StatusBarAlignment.Right, 99);
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly bridge: Bridge,
    private readonly server: Server,
    private readonly secrets: vscode.SecretStorage,
  ) {
    bridge.serves["gateway.state"] = async (told) => this.show(told as unknown as GatewayStanding);
    this.item.name = t("Dragoman: gateway");
    this.subscriptions = [
      this.item,
      bridge.onDidConnect(() => void this.look()),
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

  private async look(): Promise<void> {
    this.show(await this.bridge.ask<GatewayStanding>("gateway.status", language()).catch(() => undefined));
  }

  /** Asks for the token where none is known for this gateway; nothing is one too. */
  private async connect(): Promise<void> {
    if (!this.bridge.isOpen) return void vscode.window.showInformationMessage(t("The server is not running"));
    const address = wantedAddress();
    const token = (await this.secrets.get(placeOf(address))) ?? (await this.asked(address));
    if (token === undefined) return;
    this.show({ state: "connecting", address, reason: "", hint: "", code: "", untrusted_server: "" });
    try {
      const standing = await this.bridge.ask<GatewayStanding>("gateway.connect", { address, token, ...language() });
      this.show(standing);
      if (standing) await this.explain(standing, address);
    } catch (error) {
      await this.look();
      this.server.say(error);
    }
  }

  private async disconnect(): Promise<void> {
    this.show(await this.bridge.ask<GatewayStanding>("gateway.disconnect", language()).catch(() => undefined));
  }

  private async setToken(): Promise<void> {
    const address = wantedAddress();
    if ((await this.asked(address)) !== undefined && stateOf(this.standing) !== "disconnected") await this.connect();
  }

  /** Kept by the editor, encrypted, and never in the settings. An empty one is none: it is asked for again next time. */
  private async asked(address: string): Promise<string | undefined> {
    const prompt = t("It is kept in the editor's secret storage. Leave it empty for a gateway that needs none.");
    const token = await vscode.window.showInputBox({ title: t("Token of the gateway {0}", address), prompt, password: true, ignoreFocusOut: true });
    if (token) await this.secrets.store(placeOf(address), token.trim());
    else if (token === "") await this.secrets.delete(placeOf(address));
    return token?.trim();
  }

  /** Where a person can do something about it. */
  private async explain({ untrusted_server: foreign, reason, hint, code, state }: GatewayStanding, address: string): Promise<void> {
    if (foreign) return this.askAboutOwner(foreign);
    if (state === "connected" || state === "connecting") return;
    const again = t("Enter another token");
    const words = plain([reason, hint].filter(Boolean).join(" ")) || t("The gateway {0} is not connected.", address);
    const chosen = await vscode.window.showWarningMessage(words, ...(WRONG_TOKEN.test(`${code} ${reason}`) ? [again] : []));
    if (chosen === again) await this.setToken();
  }

  /** A listener on this machine that is another user's gets no token before the person agreed, now and for later. */
  private async askAboutOwner(entry: string): Promise<void> {
    const [address = "", user = ""] = entry.split(" ");
    const send = t("Send it");
    const words = t("The server at {0} belongs to the user {1}, not to you. Send it your token, now and later?", plain(address), plain(user));
    if ((await vscode.window.showWarningMessage(words, { modal: true }, send)) !== send) return;
    const isKept = await this.server.with(async (dragoman) => {
      const life = new Life(dragoman);
      const before = await life.setting("trusted_servers");
      await life.set("trusted_servers", [...(Array.isArray(before) ? before : []), entry].join(", "));
      return true;
    });
    if (isKept) await this.connect();
  }

  private show(standing: GatewayStanding | undefined): void {
    this.standing = standing;
    this.draw();
  }

  private draw(): void {
    const isThere = this.server.known.state === "running";
    const state = stateOf(isThere ? this.standing : undefined);
    const [icon, words] = SHOWN[state]();
    const { address = wantedAddress(), reason = "", hint = "" } = (isThere && this.standing) || {};
    this.item.text = `$(${icon}) ${t("Gateway")}`;
    this.item.tooltip = plain([`${words}: ${address}`, reason, hint].filter(Boolean).join("\n"));
    this.item.command = state === "connected" || state === "connecting" ? "dragoman.disconnectGateway" : "dragoman.connectGateway";
    this.item.backgroundColor = state === "error" ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    this.item.accessibilityInformation = { label: `${t("Dragoman: gateway")}: ${words}`, role: "button" };
  }
}

const SHOWN = {
  disconnected: () => ["debug-disconnect", t("Not connected to the gateway")] as const,
  connecting: () => ["sync~spin", t("Connecting to the gateway")] as const,
  connected: () => ["plug", t("Connected to the gateway")] as const,
  error: () => ["error", t("The gateway cannot be used")] as const,
};

/** For each gateway its own: a token is sent to no other. */
function placeOf(address: string): string {
  return `dragoman.gateway.token ${address}`;
}

function wantedAddress(): string {
  return settings().get<string>("gateway.url", "").trim() || DEFAULT_ADDRESS;
}

function language(): Json {
  return { language: vscode.env.language };
}
