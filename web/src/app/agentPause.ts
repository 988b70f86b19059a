/** Whether a person has paused all agents; stopping everything, and letting agents go on. */
import { feed, post } from "../link";

/** What ended, as the daemon counts it. */
export interface Stopped {
  calls: number;
  chats: number;
  terminals: number;
  sessions: { title: string; program: "detached" | "terminated"; confirmed?: boolean }[];
}

class AgentPause extends EventTarget {
  isPaused = false;
  /** What this page stopped, until agents go on. */
  stopped: Stopped | null = null;

  start(): void {
    feed.subscribe("agents.", {
      reset: ({ state }) => this.setPaused(Boolean(state["agents_paused_since"])),
      events: (rows) => this.setPaused(rows.at(-1)!.event.kind === "agents.paused"),
    });
  }

  async stopAll(): Promise<void> {
    this.stopped = await post<Stopped>("/api/agents/stop", {});
    this.setPaused(true);
  }

  async lift(): Promise<void> {
    await post("/api/agents/continue", {});
    this.setPaused(false);
  }

  private setPaused(isPaused: boolean): void {
    this.isPaused = isPaused;
    if (!isPaused) this.stopped = null;
    this.dispatchEvent(new Event("change"));
  }
}

export const agentPause = new AgentPause();
