/** The MCP clients' configuration, from the daemon's own templates. */
import type { Dragoman } from "./command";

export type Transport = "stdio" | "http";

interface Template {
  text: string;
}

export interface Client {
  id: string;
  title: string;
  path: string | null;
  installed: boolean;
  note: string | null;
  stdio: Template;
  http: Template | null;
}

export interface ClientConfig {
  client: Client;
  transport: Transport;
}

/** The placeholder of the secret in a template. */
const TOKEN_PLACEHOLDER = "PASTE-THE-TOKEN-HERE";

/** Two for each client that takes both; those that are installed here come first. */
export async function clientConfigs(dragoman: Dragoman): Promise<ClientConfig[]> {
  const clients = await dragoman.json<Client[]>(["client-config"]);
  const both = clients.flatMap((client) =>
    (["stdio", "http"] as const).filter((transport) => client[transport]).map((transport) => ({ client, transport })),
  );
  return [...both.filter(({ client }) => client.installed), ...both.filter(({ client }) => !client.installed)];
}

/** In an order that holds when a list is searched, and so sorted by name: the one without a secret comes first. */
export function configLabel({ client, transport }: ClientConfig): string {
  return `${client.title} (${transport === "stdio" ? "stdio" : "streamable HTTP"})`;
}

export function holdsSecret({ client, transport }: ClientConfig): boolean {
  return client[transport]?.text.includes(TOKEN_PLACEHOLDER) ?? false;
}

/** The pasted text works as it is: it contains the secret, because the person asked for it on this machine. */
export async function configText(dragoman: Dragoman, offer: ClientConfig): Promise<string> {
  const text = offer.client[offer.transport]?.text ?? "";
  return holdsSecret(offer) ? text.replaceAll(TOKEN_PLACEHOLDER, await tokenOf(dragoman, offer.client)) : text;
}

/**
 * A token for this client only, so that it can be revoked separately. It is created when its configuration is
 * requested.
 */
async function tokenOf(dragoman: Dragoman, { id }: Client): Promise<string> {
  await dragoman.run(["client-config", id, "--http", "--print"]);
  return (await dragoman.run(["token", "show", "mcp", id])).out.trim();
}

export async function writeConfig(dragoman: Dragoman, { client, transport }: ClientConfig): Promise<string> {
  const { out, err } = await dragoman.run(["client-config", client.id, `--${transport}`, "--write"]);
  return `${out}${err}`.trim().replace(/\s*\n\s*/g, " ");
}
