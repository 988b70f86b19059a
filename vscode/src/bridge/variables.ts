/** Variables of launch.json that only an editor can resolve: inputs, and commands of extensions. */
import * as vscode from "vscode";

import type { Consent } from "./consent";
import { Refusal, type Json } from "./link";

const t = vscode.l10n.t;

interface Input {
  id: string;
  type: string;
  description?: string;
  default?: string;
  password?: boolean;
  options?: (string | { label: string; value: string })[];
  command?: string;
  args?: unknown;
}

export async function variable(consent: Consent, { variable: named }: Json, signal: AbortSignal): Promise<Json> {
  const [kind, ...rest] = String(named).split(":");
  const id = rest.join(":");
  const input = kind === "input" ? inputs().find((it) => it.id === id) : undefined;
  const value = await (input && input.type !== "command" ? asked(input) : ran(consent, input?.command ?? id, input?.args, signal));
  if (typeof value !== "string") throw new Refusal("not_allowed", `${named}: nothing was chosen`);
  return { value };
}

function inputs(): Input[] {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  return vscode.workspace.getConfiguration("launch", folder?.uri).get<Input[]>("inputs", []);
}

async function asked({ type, description = "", default: given = "", password = false, options }: Input): Promise<string | undefined> {
  if (type !== "pickString") return vscode.window.showInputBox({ prompt: description, value: given, password, ignoreFocusOut: true });
  const items = (options ?? []).map((it) => (typeof it === "string" ? { label: it, value: it } : it));
  return (await vscode.window.showQuickPick(items, { placeHolder: description, ignoreFocusOut: true }))?.value;
}

/** Any command of any extension can stand in a file of the workspace: the person sees which one before it runs. */
async function ran(consent: Consent, command: string, args: unknown, signal: AbortSignal): Promise<unknown> {
  if (!vscode.workspace.isTrusted) throw new Refusal("not_allowed", "the workspace is not trusted");
  await consent.require(`command:${command}`, t("A launch configuration that an agent starts runs the command {0}.", command), signal);
  return vscode.commands.executeCommand(command, args);
}
