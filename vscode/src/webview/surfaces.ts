/** Stands in for the daemon in the page's canvas: passes surfaces in and actions out. */
import type { FeedListener, Snapshot } from "../../../web/src/link/feed";
import type { Surface } from "../../../web/src/canvas/model";
import type { ComponentAction, ToCanvas } from "../gateway/messages";
import * as relay from "./extensionPort";

type CanvasMessage = Exclude<ToCanvas, { type: "answer" }>;
type Body = Record<string, unknown>;

const PRESENT: Snapshot = { sequence: 0, state: {} };

class SurfaceFeed extends EventTarget {
  private readonly surfaces = new Map<string, Surface>();
  private readonly listeners = new Set<FeedListener>();

  start(): void {
    relay.listen<CanvasMessage>((message) => this.handleMessage(message));
    relay.notify({ type: "ready" });
  }

  subscribe(_: string | string[], listener: FeedListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The name of an action on a component. */
  actionOf({ drawer, surface_id, component_id }: ComponentAction): string {
    return this.surfaces.get(keyOf({ drawer, surface_id }))?.actions?.[component_id] ?? "";
  }

  list(): { surfaces: Surface[] } {
    return { surfaces: [...this.surfaces.values()] };
  }

  private handleMessage(message: CanvasMessage): void {
    if (message.type === "connection_state") this.surfaces.clear();
    else this.apply(message);
    for (const listener of this.listeners) listener.reset?.(PRESENT);
  }

  private apply({ payload, drawn }: Extract<CanvasMessage, { type: "a2ui" }>): void {
    const gone = payload.deleteSurface as { surfaceId: string } | undefined;
    if (gone) this.surfaces.delete(`${String(payload.drawer)}/${gone.surfaceId}`);
    if (drawn) this.surfaces.set(keyOf(drawn as Surface), drawn as Surface);
  }
}

function keyOf({ drawer, surface_id }: Pick<Surface, "drawer" | "surface_id">): string {
  return `${drawer}/${surface_id}`;
}

export const feed = new SurfaceFeed();

/** The page's requests to the daemon, by the route that they use there. */
export async function request<T>(path: string): Promise<T> {
  if (path === "/api/canvas") return feed.list() as T;
  if (path === "/api/names") return relay.request<T>({ type: "names" });
  throw new Error(`${path}: not for a view`);
}

export function post<T>(path: string, body: unknown): Promise<T> {
  if (path.endsWith("/remove")) return relay.request<T>({ type: "removeSurface", ...(body as Body) });
  const { details, ...of } = body as ComponentAction & { details: Body };
  const context = Object.keys(details).length ? details : { componentId: of.component_id };
  return relay.request<T>({ type: "userAction", action: feed.actionOf(of), context, of });
}
