/** The way out of a view: questions with numbers, and what the extension says. */

interface Editor {
  postMessage(message: unknown): void;
}

interface ResponseMessage {
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

export function notify(message: object): void {
  editor.postMessage(message);
}

/** The extension answers within a deadline of its own. */
export function request<T>(message: object): Promise<T> {
  const id = nextId++;
  return new Promise<T>((resolve, reject) => {
    waiting.set(id, { resolve: resolve, reject });
    editor.postMessage({ ...message, id });
  });
}

/**
 * The extension's words come from the editor's own frame around this one, of the same origin: no other window speaks
 * here.
 */
export function listen<Message>(onMessage: (message: Message) => void): void {
  window.addEventListener("message", ({ data, origin }: MessageEvent<Message | ResponseMessage>) => {
    if (origin !== window.origin) return;
    if ((data as ResponseMessage).type === "answer") settle(data as ResponseMessage);
    else onMessage(data as Message);
  });
}

function settle({ id, ok, payload, message }: ResponseMessage): void {
  const pending = waiting.get(id);
  waiting.delete(id);
  if (ok) pending?.resolve(payload);
  else pending?.reject(new Error(message ?? "?"));
}
