/** What happened, as a sentence: one for each kind of event. The view shows the actor beside it. */
import "../debugger/chinese";
import { t, type FeedRow } from "../link";
import { actorName, actorOf } from "../parts/actors";
import { relativePath } from "./activityRows";
import "./chinese";

type Body = Record<string, unknown>;
type Describe = (body: Body, row: FeedRow) => string;

const COMMANDS: Record<string, string> = {
  continue: "continued",
  next: "stepped over",
  stepIn: "stepped into",
  stepOut: "stepped out",
  reverseContinue: "continued backwards",
  stepBack: "stepped back",
};
/** For a terminal of an agent. */
const TERMINAL_ENDS: Record<string, string> = {
  client_left: "the terminal was closed: its agent disconnected",
  unused: "the terminal was closed: nobody used it",
  made_room: "the terminal was closed to make room",
  stopped_by_person: "the terminal was closed: a person stopped everything",
  daemon_ended: "the terminal ended with Dragoman",
  daemon_died: "the terminal ended with Dragoman",
};

/** Why a program that stood on another machine's behalf runs on. */
const RELEASES: Record<string, string> = {
  countdown: "let the program run on: its time at the stop was over",
  unattended: "let the program run on: nobody was connected any more",
};

const CHAT_ROLES: Record<string, string> = {
  user: "asked: {text}",
  assistant: "answered: {text}",
};

const DESCRIPTIONS: Record<string, Describe> = {
  "daemon.started": ({ version }) => t("Dragoman {version} started", { version: text(version) }),
  "daemon.ended": ({ version }) => t("Dragoman {version} ended", { version: text(version) }),
  "daemon.setting_changed": ({ key }) => t("changed the setting {key}", { key: text(key) }),
  "journal.set_aside": ({ file }) =>
    t("a damaged journal was moved to {file}, and a new one was started", { file: text(file) }),
  "agents.paused": () => t("stopped everything and paused all agents"),
  "share.signed": ({ session }) => t("signed a file with the session {session}", { session: text(session) }),
  "agents.continued": () => t("let agents go on"),
  "mcp.connected": ({ version, workspace }) =>
    t("connected, version {version}, in {folder}", { version: text(version), folder: text(workspace) }),
  "mcp.disconnected": () => t("disconnected"),
  "workspace.trusted": ({ folder }) => t("{folder} is trusted: its programs may run", { folder: text(folder) }),
  "workspace.distrusted": ({ folder }) => t("{folder} is no longer trusted", { folder: text(folder) }),
  "breakpoint.set": (body, row) => t("set a breakpoint: {place}", { place: breakpointLocation(body, row) }),
  "breakpoint.changed": (body, row) => t("changed a breakpoint: {place}", { place: breakpointLocation(body, row) }),
  "breakpoint.removed": (body, row) => t("removed a breakpoint: {place}", { place: breakpointLocation(body, row) }),
  "debug.started": ({ title }) => t("started {name}", { name: text(title) }),
  "debug.running": () => t("the program is running"),
  "debug.failed": ({ code }) => t("could not start: {name}", { name: text(code) }),
  "debug.joined": () => t("joined the session"),
  "debug.left": () => t("left the session"),
  "debug.held": ({ seconds }) => t("keeps the program stopped for {seconds} s more", { seconds: Number(seconds) }),
  "debug.released": ({ reason }) => t(RELEASES[text(reason)] ?? RELEASES["countdown"]!),
  "debug.resumed": ({ command }) => t(COMMANDS[text(command)] ?? text(command)),
  "debug.paused": () => t("paused"),
  "debug.stopped": (body, row) =>
    t("stopped: {reason}, {place}", { reason: t(text(body["reason"])), place: location(body, row) }),
  "debug.evaluated": ({ expression, result }) =>
    t("evaluated {name}: {result}", { name: text(expression), result: text(result) }),
  "debug.traced": ({ place }) => t("traced {name}", { name: text(place) }),
  "debug.variable_set": ({ name }) => t("set {name}", { name: text(name) }),
  "debug.ended": ({ exit_code: code }) =>
    typeof code === "number" ? t("ended with exit code {code}", { code }) : t("ended"),
  "debug.afterwards_failed": ({ code }) => t("the post-debug task failed: {name}", { name: text(code) }),
  "terminal.began": ({ attributes }) =>
    t("opened a terminal: {shell}", { shell: text((attributes as Body | undefined)?.["shell"]) }),
  "terminal.ended": ({ why, by }) =>
    TERMINAL_ENDS[text(why) || text(by)] ? t(TERMINAL_ENDS[text(why) || text(by)]!) : t("closed the terminal"),
  "terminal.command_ended": (body) => commandText(body),
  "terminal.command_failed": ({ line, exit_code: code }) =>
    t("failed with exit code {code}: {line}", { code: Number(code), line: text(line) }),
  "terminal.pattern_seen": ({ text: seen }) => t("the output contains: {text}", { text: text(seen) }),
  "chat.session_created": () => t("started a conversation"),
  "chat.session_placed": () => t("set the folder of a conversation"),
  "chat.session_renamed": (_, { event }) => t("named a conversation: {name}", { name: event.text ?? "" }),
  "chat.session_removed": (_, { event }) => t("removed a conversation: {name}", { name: event.text ?? "" }),
  "chat.said": ({ role }, { event }) => t(CHAT_ROLES[text(role)] ?? "", { text: event.text ?? "" }),
  "chat.file_changed": ({ path }, { event }) =>
    t("changed {path}", { path: relativePath(text(path), event.workspace) }),
  "canvas.surface_updated": (body) => drawingText(body),
  "canvas.surface_removed": ({ surface }) => t("removed {name} from the canvas", { name: text(surface) }),
  "canvas.surfaces_forgotten": ({ count }) => t("surfaces cleared: {count}", { count: Number(count) }),
  "canvas.action_taken": ({ name, surface }) =>
    t("did {name} on {surface}", { name: text(name), surface: text(surface) }),
  "canvas.presented": () => t("asks you to open the canvas"),
  "canvas.hidden": () => t("no longer uses the canvas"),
};

/** The actor, unless the text of the event names it. */
const ACTORS: Record<string, (row: FeedRow) => string> = {
  "mcp.connected": ({ event }) => actorName(event.session),
  "mcp.disconnected": ({ event }) => actorName(event.session),
  "chat.said": ({ event }) =>
    actorName(event.body?.["by"]) || (event.body?.["role"] === "assistant" ? actorName("chat") : ""),
  "chat.file_changed": () => actorName("gateway"),
  "terminal.ended": ({ event }) => (text(event.body?.["by"]) in TERMINAL_ENDS ? "" : actorName(event.body?.["by"])),
};

/** For a kind that is newer than this page: the text of the event, unchanged. */
export function eventText(row: FeedRow): string {
  return DESCRIPTIONS[row.event.kind]?.(row.event.body ?? {}, row) ?? row.event.text ?? "";
}

export function eventActor(row: FeedRow): string {
  return (ACTORS[row.event.kind] ?? actorOf)(row);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function location({ path, line, function: name }: Body, { event }: FeedRow): string {
  return path ? `${relativePath(text(path), event.workspace)}:${Number(line ?? 0)}` : text(name);
}

function breakpointLocation(body: Body, row: FeedRow): string {
  const it = (body["breakpoint"] ?? {}) as Body;
  return location(it, row) || text(it["filter"]) || text(it["variable"]);
}

function commandText({ line, exit_code: code }: Body): string {
  const shown = text(line) || t("a command");
  return typeof code === "number" && code !== 0
    ? t("ran {line}: exit code {code}", { line: shown, code })
    : t("ran {line}", { line: shown });
}

function drawingText({ versions, removed }: Body): string {
  const drawn = Object.keys(versions ?? {});
  return drawn.length
    ? t("drew {name}", { name: drawn.join(", ") })
    : t("removed {name} from the canvas", { name: ((removed ?? []) as string[]).join(", ") });
}
