/** What agents ask before they do it: for the person to decide, wherever in the page they are. */
import { gateway, unlessAway } from "../link";

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
    gateway.addEventListener("state", () => void this.read().catch(unlessAway));
    gateway.subscribe(({ event, payload }) => {
      if (event === "dragoman.approval.requested") this.become([...this.others(String(payload.id)), payload as unknown as Approval]);
      if (event === "dragoman.approval.resolved") this.become(this.others(String(payload.id)));
    });
  }

  async decide(id: string, decision: "allow" | "deny"): Promise<void> {
    await gateway.request("dragoman.approval.resolve", { id, decision });
    this.become(this.others(id));
  }

  private async read(): Promise<void> {
    if (!gateway.connected) return this.become([]); // nobody would hear the answer; those that still wait come back
    const { approvals } = await gateway.request<{ approvals: Approval[] }>("dragoman.approvals");
    this.become(approvals);
  }

  private others(id: string): Approval[] {
    return this.waiting.filter((approval) => approval.id !== id);
  }

  private become(waiting: Approval[]): void {
    this.waiting = waiting;
    this.dispatchEvent(new Event("change"));
  }
}

export const approvals = new Approvals();
