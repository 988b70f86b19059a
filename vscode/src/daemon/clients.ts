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

export interface Offer {
  client: Client;
  transport: Transport;
}

/** What stands for the secret in a template. */
const PLACE_OF_TOKEN = "PASTE-THE-TOKEN-HERE";

/** Two for each client that takes both; those that are installed here come first. */
export async function offers(dragoman: Dragoman): Promise<Offer[]> {
  const clients = await dragoman.json<Client[]>(["client-config"]);
  const both = clients.flatMap((client) =>
    (["stdio", "http"] as const).filter((transport) => client[transport]).map((transport) => ({ client, transport })),
  );
  return [...both.filter(({ client }) => client.installed), ...both.filter(({ client }) => !client.installed)];
}

/** In an order that holds when a list is searched, and so sorted by name: the one without a secret comes first. */
export function labelOf({ client, transport }: Offer): string {
  return `${client.title} (${transport === "stdio" ? "stdio" : "streamable HTTP"})`;
}

export function holdsSecret({ client, transport }: Offer): boolean {
  return client[transport]?.text.includes(PLACE_OF_TOKEN) ?? false;
}

/** What is pasted works as it is: the secret is put in for who asked for it at this machine. */
export async function textOf(dragoman: Dragoman, offer: Offer): Promise<string> {
  const text = offer.client[offer.transport]?.text ?? "";
  return holdsSecret(offer) ? text.replaceAll(PLACE_OF_TOKEN, await tokenOf(dragoman, offer.client)) : text;
}

/** Of this client alone, so that it can be revoked without the others: made when its configuration is asked for. */
async function tokenOf(dragoman: Dragoman, { id }: Client): Promise<string> {
  await dragoman.run(["client-config", id, "--http", "--print"]);
  return (await dragoman.run(["token", "show", "mcp", id])).out.trim();
}

export async function write(dragoman: Dragoman, { client, transport }: Offer): Promise<string> {
  const { out, err } = await dragoman.run(["client-config", client.id, `--${transport}`, "--write"]);
  return `${out}${err}`.trim().replace(/\s*\n\s*/g, " ");
}
