/** The views: each is loaded when it is first shown. */
export interface View {
  id: string;
  title: string;
  tag: string;
  load(): Promise<unknown>;
}

export const VIEWS: readonly View[] = [
  { id: "chat", title: "Chat", tag: "dragoman-chat", load: () => import("../chat/chat") },
  { id: "canvas", title: "Canvas", tag: "dragoman-canvas", load: () => import("../canvas/canvas") },
  { id: "debugger", title: "Debugger", tag: "dragoman-debugger", load: () => import("../debugger/debugger") },
  { id: "evidence", title: "Evidence", tag: "dragoman-evidence", load: () => import("../evidence/evidence") },
  { id: "terminals", title: "Terminals", tag: "dragoman-terminals", load: () => import("../terminals/terminals") },
  { id: "activity", title: "Activity", tag: "dragoman-activity", load: () => import("../activity/activity") },
  { id: "settings", title: "Settings", tag: "dragoman-settings", load: () => import("../settings/settings") },
];
