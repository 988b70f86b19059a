/** Approvals that agents ask for. The person can answer them in any view of the page. */
import { gateway, ignoreUnreachable } from "../link";

export interface Approval {
  id: string;
  sessionKey: string;
  runId: string;
  tool: string;
  subject: string;
  kind?: "tool" | "trust";
}

class Approvals extends EventTarget {
  waiting: Approval[] = [];

  constructor() {
    super();
    gateway.addEventListener("state", () => void this.read().catch(ignoreUnreachable));
    gateway.subscribe(({ event, payload }) => {
      if (event === "dragoman.approval.requested")
        this.setWaiting([...this.others(String(payload.id)), payload as unknown as Approval]);
      if (event === "dragoman.approval.resolved") this.setWaiting(this.others(String(payload.id)));
    });
  }

  async decide(id: string, decision: "allow" | "deny"): Promise<void> {
    await gateway.request("dragoman.approval.resolve", { id, decision });
    this.setWaiting(this.others(id));
  }

  private async read(): Promise<void> {
    if (!gateway.connected) return this.setWaiting([]); // open requests come back with the connection
    const { approvals } = await gateway.request<{ approvals: Approval[] }>("dragoman.approvals");
    this.setWaiting(approvals);
  }

  private others(id: string): Approval[] {
    return this.waiting.filter((approval) => approval.id !== id);
  }

  private setWaiting(waiting: Approval[]): void {
    this.waiting = waiting;
    this.dispatchEvent(new Event("change"));
  }
}

export const approvals = new Approvals();
