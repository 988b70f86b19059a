/**
 * Who did something: people and agents share sessions, and each sees what the other does. One name for each, in every
 * view.
 */
import { request, feed, t, ignoreUnreachable, type FeedRow } from "../link";
import "./chinese";

const OWN_NAMES: Record<string, string> = {
  "page": "you",
  "the page": "you",
  "shell": "the command line",
  "chat": "the chat",
  "dragoman": "Dragoman",
  "terminal": "a person at the terminal",
  "gateway": "an agent behind the gateway",
  "gateway-canvas": "an agent behind the gateway",
};
const PEOPLE = new Set(["page", "the page", "shell", "terminal"]);
const PERSON = /^person-[^:]+:(.*)$/s;
/** Evidence runs, which name their requester: from `dragoman debug`, or from a question about a whole run. */
const RUN = /^run-[0-9a-f]+$/;
const EVIDENCE = /^evidence-[^:]+:(.*)$/s;
const ID = /^[a-z]+-[0-9a-f]{16}$/;
const AGENTS = new Set(["chat", "gateway", "gateway-canvas"]);
const KEPT = 1000;

/** Names of agents by id: an agent gives its name when it connects. */
const names = new Map<string, string>();

/** Dispatches `changed` when new names arrive, so that views can show them. */
export const actorNames = new EventTarget();

export function rememberActor({ event }: FeedRow): void {
  if (event.kind === "mcp.connected") remember(event.session ?? "", event.body?.["client"]);
}

function remember(id: string, name: unknown): void {
  if (typeof name === "string" && name) names.set(id, name);
  for (const oldest of names.keys()) if (names.size > KEPT) names.delete(oldest);
}

// Kept as long as the page is open, so that every view knows all names.
feed.subscribe("mcp.connected", {
  events: (rows) => rows.forEach(rememberActor),
  reset: () => void rememberAll().catch(ignoreUnreachable),
});

async function rememberAll(): Promise<void> {
  const { names: known } = await request<{ names: Record<string, string> }>("/api/names");
  for (const [id, name] of Object.entries(known)) remember(id, name);
  actorNames.dispatchEvent(new Event("changed"));
}

/** The name for an id of ours; any other string is a name that a client chose. */
export function actorName(id: unknown): string {
  if (typeof id !== "string" || !id) return "";
  if (Object.hasOwn(OWN_NAMES, id)) return t(OWN_NAMES[id]!);
  if (RUN.test(id)) return actorName("shell");
  const requester = EVIDENCE.exec(id)?.[1];
  if (requester !== undefined) return actorName(requester);
  const program = PERSON.exec(id)?.[1];
  if (program !== undefined) return t("a person in {program}", { program });
  return displayName(names.get(id) ?? (ID.test(id) ? t("an agent") : id));
}

/** Whether the id is an agent's: what acts by itself, other than a person with a program of theirs. */
export function isAgent(id: unknown): boolean {
  return typeof id === "string" && (ID.test(id) || AGENTS.has(id));
}

/** A client that uses a name of ours must not be mistaken for us. */
function displayName(name: string): string {
  const lowerName = name.trim().toLowerCase();
  const isTaken =
    Object.values(OWN_NAMES).some((it) => t(it).toLowerCase() === lowerName) ||
    lowerName.includes(t("a person in {program}", { program: "" }).trim());
  return isTaken ? t("a client named {name}", { name }) : name;
}

/** Whether a person did it, at the page, a shell or an editor; what has no name yet is an agent. */
export function isPerson(id: string | undefined): boolean {
  if (!id) return false;
  const requester = EVIDENCE.exec(id)?.[1];
  return requester !== undefined ? isPerson(requester) : PEOPLE.has(id) || PERSON.test(id) || RUN.test(id);
}

/** The actor of an event; empty if it has none. */
export function actorOf({ event }: FeedRow): string {
  const body = event.body ?? {};
  const owner = (body["breakpoint"] as Record<string, unknown> | undefined)?.["owner"];
  return actorName(body["by"] ?? body["drawer"] ?? owner);
}
