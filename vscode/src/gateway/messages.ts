/**
 * Messages between the extension and its views. `runId`, `id` and `of` are ours: which answer, which question, and the
 * target of an action.
 */

export type ToChat =
  | { kind: "text_delta"; content: string; runId: string; itemId?: string }
  | { kind: "tool_start"; id: string; tool: string; title: string; input: unknown; runId: string }
  | { kind: "tool_update"; id: string; tool: string; title: string; runId: string }
  | { kind: "tool_result"; id: string; output: string; error: string | null; runId: string }
  | { kind: "diff"; path: string; original: string | null; modified: string; runId: string; toolCallId?: string }
  | { kind: "done"; stopReason: string; runId: string; text?: string }
  | { type: "connection_state"; state: string }
  | { type: "inject_prompt"; text: string }
  | { type: "sessions"; sessions: unknown[] }
  | { type: "error"; message: string }
  | { type: "history"; messages: unknown[] }
  | { type: "history_loading" }
  | { type: "event"; event: string; payload: Record<string, unknown> }
  | ResponseMessage;

export type FromChat =
  | { type: "ready" }
  | { type: "send"; text: string; runId?: string; id?: number }
  | { type: "abort"; id?: number }
  | { type: "switch_session"; key: string; id?: number }
  | { type: "request_sessions"; id?: number }
  | { type: "request"; id: number; method: string; params: Record<string, unknown> };

export type ToCanvas =
  | { type: "a2ui"; payload: Record<string, unknown>; drawn?: unknown }
  | { type: "connection_state"; state: string }
  | ResponseMessage;

export type FromCanvas =
  | { type: "ready" }
  | { type: "userAction"; action: string; context: Record<string, unknown>; of: ComponentAction; id?: number }
  | { type: "removeSurface"; drawer: string; surface_id: string; id: number }
  | { type: "names"; id: number };

/** Which component, and what was entered beside it. */
export interface ComponentAction {
  drawer: string;
  surface_id: string;
  component_id: string;
  scope: string;
  changes: unknown[];
}

/** How a question with a number was answered. */
export type ResponseMessage = { type: "answer"; id: number; ok: boolean; payload?: unknown; message?: string };
