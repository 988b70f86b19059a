/** Who did something: people and agents share sessions, and each sees what the other does. */
import { t, type Row } from "../link";
import "./chinese";

const OURS: Record<string, string> = {
  page: "this page", "the page": "this page", shell: "the command line", chat: "the chat", dragoman: "Dragoman",
};
const PERSON = /^person-[^:]+:(.*)$/s;
/** Runs of their own, for whoever asked: of `dragoman debug` from a shell, and of a question about a whole run. */
const RUN = /^run-[0-9a-f]+$/;
const EVIDENCE = /^evidence-[^:]+:(.*)$/s;

/** Names of agents by their ids: they say who they are when they connect. */
const names = new Map<string, string>();

export function learn({ event }: Row): void {
  const name = event.body?.["client"];
  if (event.kind === "mcp.connected" && typeof name === "string") names.set(event.session ?? "", name);
}

export function who(id: unknown): string {
  if (typeof id !== "string" || !id) return "";
  if (Object.hasOwn(OURS, id)) return t(OURS[id]!);
  if (RUN.test(id)) return who("shell");
  const asker = EVIDENCE.exec(id)?.[1];
  if (asker !== undefined) return who(asker);
  const program = PERSON.exec(id)?.[1];
  return program === undefined ? (names.get(id) ?? t("an agent")) : t("a person in {program}", { program });
}

/** Whoever an event names; nobody where it only happened. */
export function whoDid({ event }: Row): string {
  const body = event.body ?? {};
  const owner = (body["breakpoint"] as Record<string, unknown> | undefined)?.["owner"];
  return who(body["by"] ?? body["drawer"] ?? owner);
}
