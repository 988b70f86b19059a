/**
 * Stands for the daemon in a saved replay: the same components ask the same questions, and the recording in the file
 * answers them. It has no connection to anything.
 */
import type { FeedRow } from "../../link";
import type { StopRecord } from "../stopRecords";
import type { OutputRecord } from "../timedOutput";

export { t, chinese, locale, chosenLanguage } from "../../i18n/t";

export class RequestError extends Error {
  readonly hint = "";
}

export interface Recording {
  session: string;
  title: string;
  workspace: string;
  events: FeedRow[];
  stops: StopRecord[];
  output: OutputRecord;
  sources: { path: string; lines: string[] }[];
  names: Record<string, string>;
  cut: Record<string, number>;
}

export const recording = JSON.parse(document.getElementById("recording")!.textContent!) as Recording;

const ANSWERS: Record<string, (asked: URLSearchParams) => unknown> = {
  "/api/events": (asked) => ({
    events: recording.events.filter(({ sequence }) => sequence > Number(asked.get("after"))),
    more: false,
  }),
  "/api/replay/stops": (asked) => ({
    stops: recording.stops.filter(({ number }) => number > Number(asked.get("after"))),
    more: false,
  }),
  "/api/replay/output": (asked) =>
    Number(asked.get("after")) ? { text: "", start: recording.output.start, marks: [] } : recording.output,
};

export async function request<T>(path: string): Promise<T> {
  const { pathname, searchParams } = new URL(path, "offline://recording");
  const answer = ANSWERS[pathname];
  if (!answer) throw new RequestError(pathname);
  return answer(searchParams) as T;
}

interface SourceCall {
  tool: string;
  arguments: { file_path: string; line: number; count: number };
}

/** The only tool that is called: the lines of a recorded file. */
export async function post<T>(_: string, { tool, arguments: asked }: SourceCall): Promise<T> {
  const whole = asked.file_path.startsWith("/") ? asked.file_path : `${recording.workspace}/${asked.file_path}`;
  const source = recording.sources.find(({ path }) => path === whole);
  if (tool !== "get_source" || !source) return { data: { message: whole }, text: "", is_error: true } as T;
  const lines = source.lines.slice(asked.line - 1, asked.line - 1 + asked.count);
  const data = { file_path: whole, start: asked.line, lines, total_lines: source.lines.length };
  return { data, text: "", is_error: false } as T;
}

/** Nothing happens any more. */
export const feed = { state: "outside", subscribe: () => () => undefined };

export function ignoreUnreachable(): void {
  // Nobody is asked who could be unreachable.
}
