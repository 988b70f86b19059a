/** Whether the view moves to the session and the stop of an agent that acts, or stays where the person is. */
import { changePreferences, ignoreUnreachable, savedPreferences, type FeedRow } from "../link";
import { isAgent } from "../parts/actors";
import type { Session } from "./toolResults";

/** What a client does in a session that a person may want to watch. */
const ACTIONS = new Set(["debug.started", "debug.resumed", "debug.paused", "debug.evaluated", "debug.variable_set"]);
const KEPT = 200;

export class AgentFollow {
  isOn = true;
  /** Which client acted last, by session. */
  private readonly actors = new Map<string, unknown>();
  /** The session in which an agent acted, until the view is there. */
  private wanted = "";

  constructor(private readonly changed: () => void) {
    void this.load().catch(ignoreUnreachable);
  }

  add(rows: FeedRow[]): void {
    for (const { event } of rows) {
      if (!ACTIONS.has(event.kind) || !event.session) continue;
      const by = event.body?.["by"];
      this.actors.delete(event.session);
      this.actors.set(event.session, by);
      if (this.isOn && isAgent(by)) this.wanted = event.session;
    }
    for (const oldest of this.actors.keys()) if (this.actors.size > KEPT) this.actors.delete(oldest);
  }

  /** A command that was just pressed: its event arrives later. */
  personActs(session: string): void {
    this.actors.set(session, "page");
    if (this.wanted === session) this.wanted = "";
  }

  /** The session to move to, once, when it is listed. */
  take(sessions: readonly Session[]): Session | undefined {
    const found = sessions.find(({ session_id }) => session_id === this.wanted);
    if (found) this.wanted = "";
    return found;
  }

  /** Whether a new stop of the session moves the source to it. A person's own step always does. */
  leadsTo(session: string): boolean {
    return this.isOn || !isAgent(this.actors.get(session));
  }

  turn(isOn: boolean): void {
    this.isOn = isOn;
    this.wanted = "";
    this.changed();
    void changePreferences({ follows_agent: isOn }).catch(ignoreUnreachable);
  }

  private async load(): Promise<void> {
    this.isOn = (await savedPreferences()).follows_agent;
    this.changed();
  }
}
