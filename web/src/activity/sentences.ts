/** What happened, as a sentence: one for each kind of event there is. Who did it stands beside it. */
import "../debugger/chinese";
import { t, type Row } from "../link";
import { who, whoDid } from "../parts/who";
import "./chinese";

type Body = Record<string, unknown>;
type Tell = (body: Body, row: Row) => string;

const COMMANDS: Record<string, string> = {
  continue: "continued", next: "stepped over", stepIn: "stepped into", stepOut: "stepped out", reverseContinue: "continued backwards", stepBack: "stepped back",
};
/** Of a terminal of an agent. */
const ENDS: Record<string, string> = {
  client_left: "the terminal was closed: its agent left", unused: "the terminal was closed: nobody used it",
  made_room: "the terminal was closed to make room", daemon_ended: "the terminal ended with Dragoman", daemon_died: "the terminal ended with Dragoman",
};

const SAYS: Record<string, string> = {
  user: "asked: {text}", assistant: "answered: {text}",
};

const SENTENCES: Record<string, Tell> = {
  "daemon.started": ({ version }) => t("Dragoman {version} started", { version: text(version) }),
  "daemon.ended": ({ version }) => t("Dragoman {version} ended", { version: text(version) }),
  "daemon.setting_changed": ({ key }) => t("changed the setting {key}", { key: text(key) }),
  "journal.set_aside": ({ file }) => t("a damaged journal was set aside as {file}, and a fresh one begun", { file: text(file) }),
  "mcp.connected": ({ version, workspace }) => t("connected, version {version}, in {folder}", { version: text(version), folder: text(workspace) }),
  "mcp.disconnected": () => t("left"),
  "workspace.trusted": ({ folder }) => t("{folder} is trusted: what it holds may run", { folder: text(folder) }),
  "workspace.distrusted": ({ folder }) => t("{folder} is no longer trusted", { folder: text(folder) }),
  "breakpoint.set": (body) => t("set a breakpoint: {place}", { place: breakpoint(body) }),
  "breakpoint.changed": (body) => t("changed a breakpoint: {place}", { place: breakpoint(body) }),
  "breakpoint.removed": (body) => t("removed a breakpoint: {place}", { place: breakpoint(body) }),
  "debug.started": ({ title }) => t("started {name}", { name: text(title) }),
  "debug.running": () => t("the program runs"),
  "debug.failed": ({ code }) => t("could not start: {name}", { name: text(code) }),
  "debug.joined": () => t("joined the session"),
  "debug.left": () => t("left the session"),
  "debug.resumed": ({ command }) => t(COMMANDS[text(command)] ?? text(command)),
  "debug.paused": () => t("paused"),
  "debug.stopped": (body) => t("stopped: {reason}, {place}", { reason: t(text(body["reason"])), place: place(body) }),
  "debug.evaluated": ({ expression, result }) => t("evaluated {name}: {result}", { name: text(expression), result: text(result) }),
  "debug.traced": ({ place }) => t("traced {name}", { name: text(place) }),
  "debug.variable_set": ({ name }) => t("set {name}", { name: text(name) }),
  "debug.ended": ({ exit_code: code }) => (typeof code === "number" ? t("ended with exit code {code}", { code }) : t("ended")),
  "debug.afterwards_failed": ({ code }) => t("what was to be done afterwards failed: {name}", { name: text(code) }),
  "terminal.began": ({ attributes }) => t("opened a terminal: {shell}", { shell: text((attributes as Body | undefined)?.["shell"]) }),
  "terminal.ended": ({ why, by }) => (ENDS[text(why) || text(by)] ? t(ENDS[text(why) || text(by)]!) : t("closed the terminal")),
  "terminal.command_ended": (body) => ran(body),
  "terminal.command_failed": ({ line, exit_code: code }) => t("failed with exit code {code}: {line}", { code: Number(code), line: text(line) }),
  "terminal.pattern_seen": ({ text: seen }) => t("the output has: {text}", { text: text(seen) }),
  "chat.session_created": () => t("began a conversation"),
  "chat.session_placed": () => t("said which folder a conversation is about"),
  "chat.session_renamed": (_, { event }) => t("named a conversation: {name}", { name: event.text ?? "" }),
  "chat.session_removed": (_, { event }) => t("removed a conversation: {name}", { name: event.text ?? "" }),
  "chat.said": ({ role }, { event }) => t(SAYS[text(role)] ?? "", { text: event.text ?? "" }),
  "chat.file_changed": ({ path }) => t("changed {path}", { path: text(path) }),
  "canvas.surface_updated": (body) => drew(body),
  "canvas.surface_removed": ({ surface }) => t("took {name} from the canvas", { name: text(surface) }),
  "canvas.surfaces_forgotten": ({ count }) => t("surfaces were forgotten: {count}", { count: Number(count) }),
  "canvas.action_taken": ({ name, surface }) => t("did {name} on {surface}", { name: text(name), surface: text(surface) }),
  "canvas.presented": () => t("asks you to look at the canvas"),
  "canvas.hidden": () => t("is done with the canvas"),
};

/** Whoever did it where the event's own words do not name them. */
const DOERS: Record<string, (row: Row) => string> = {
  "mcp.connected": ({ event }) => who(event.session),
  "mcp.disconnected": ({ event }) => who(event.session),
  "chat.said": ({ event }) => who(event.body?.["by"]) || (event.body?.["role"] === "assistant" ? who("chat") : ""),
  "chat.file_changed": () => who("gateway"),
  "terminal.ended": ({ event }) => (text(event.body?.["by"]) in ENDS ? "" : who(event.body?.["by"])),
};

/** Of a kind that came after this page was made: its own words, as they are. */
export function sentence(row: Row): string {
  return SENTENCES[row.event.kind]?.(row.event.body ?? {}, row) ?? row.event.text ?? "";
}

export function doer(row: Row): string {
  return (DOERS[row.event.kind] ?? whoDid)(row);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function place({ path, line, function: name }: Body): string {
  return path ? `${text(path)}:${Number(line ?? 0)}` : text(name);
}

function breakpoint(body: Body): string {
  const it = (body["breakpoint"] ?? {}) as Body;
  return place(it) || text(it["filter"]) || text(it["variable"]);
}

function ran({ line, exit_code: code }: Body): string {
  const shown = text(line) || t("a command");
  return typeof code === "number" && code !== 0 ? t("ran {line}: exit code {code}", { line: shown, code }) : t("ran {line}", { line: shown });
}

function drew({ versions, removed }: Body): string {
  const drawn = Object.keys((versions ?? {}) as Body);
  return drawn.length ? t("drew {name}", { name: drawn.join(", ") }) : t("took {name} from the canvas", { name: ((removed ?? []) as string[]).join(", ") });
}
