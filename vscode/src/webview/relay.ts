/** The way out of a view: questions with numbers, and what the extension says. */

interface Editor {
  postMessage(message: unknown): void;
}

interface Answered {
  type: "answer";
  id: number;
  ok: boolean;
  payload?: unknown;
  message?: string;
}

declare function acquireVsCodeApi(): Editor;

const editor = acquireVsCodeApi();
const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
let nextId = 1;

export function tell(message: object): void {
  editor.postMessage(message);
}

/** The extension answers within a deadline of its own. */
export function ask<T>(message: object): Promise<T> {
  const id = nextId++;
  return new Promise<T>((resolve, reject) => {
    waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
    editor.postMessage({ ...message, id });
  });
}

/** The extension's words come from the editor's own frame around this one, of the same origin: no other window speaks here. */
export function listen<Message>(heard: (message: Message) => void): void {
  window.addEventListener("message", ({ data, origin }: MessageEvent<Message | Answered>) => {
    if (origin !== window.origin) return;
    if ((data as Answered).type === "answer") settle(data as Answered);
    else heard(data as Message);
  });
}

function settle({ id, ok, payload, message }: Answered): void {
  const asked = waiting.get(id);
  waiting.delete(id);
  if (ok) asked?.resolve(payload);
  else asked?.reject(new Error(message ?? "?"));
}
