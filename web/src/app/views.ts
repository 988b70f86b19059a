import type { IconName } from "../parts/icons";

/** The views: each is loaded when it is first shown. */
export interface View {
  id: string;
  title: string;
  /** Stands for the title where the window is narrow. */
  icon: IconName;
  tag: string;
  load(): Promise<unknown>;
}

export const VIEWS: readonly View[] = [
  { id: "start", title: "Get started", icon: "flag", tag: "dragoman-start", load: () => import("../start/start") },
  { id: "chat", title: "Chat", icon: "chat", tag: "dragoman-chat", load: () => import("../chat/chat") },
  { id: "canvas", title: "Canvas", icon: "canvas", tag: "dragoman-canvas", load: () => import("../canvas/canvas") },
  {
    id: "debugger",
    title: "Debugger",
    icon: "bug",
    tag: "dragoman-debugger",
    load: () => import("../debugger/debugger"),
  },
  {
    id: "evidence",
    title: "Evidence",
    icon: "evidence",
    tag: "dragoman-evidence",
    load: () => import("../evidence/evidence"),
  },
  {
    id: "terminals",
    title: "Terminals",
    icon: "terminal",
    tag: "dragoman-terminals",
    load: () => import("../terminals/terminals"),
  },
  {
    id: "activity",
    title: "Activity",
    icon: "list",
    tag: "dragoman-activity",
    load: () => import("../activity/activity"),
  },
  {
    id: "settings",
    title: "Settings",
    icon: "gear",
    tag: "dragoman-settings",
    load: () => import("../settings/settings"),
  },
];

/** An address may name a view that another version of the page had. */
export function viewOf(id: string): View {
  return VIEWS.find((view) => view.id === id) ?? VIEWS.find((view) => view.id === "chat")!;
}
