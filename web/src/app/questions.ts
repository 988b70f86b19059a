/** What agents ask, wherever they ask it: on the canvas, or for an approval. The page shows all of it in one banner. */
import { canvasNotifications } from "../canvas/notifications";
import { approvals } from "../chat/approvals";
import { t } from "../link";
import { actorName } from "../parts/actors";
import { router } from "./router";

export interface AgentQuestion {
  id: string;
  /** Who asks what, in one line. */
  text: string;
  /** What an approval is about, as the agent wrote it. */
  subject: string;
  /** A plain yes or no, which can be answered anywhere. */
  isYesOrNo: boolean;
  /** Where it is answered. */
  place: readonly [view: string, ...parts: string[]];
}

/** Without those that the person is looking at. */
export function openQuestions(view: string): AgentQuestion[] {
  const shown = view === "canvas" ? ["canvas", ...router.parts("canvas")].join("/") : view;
  return allQuestions().filter(({ place }) => place.join("/") !== shown);
}

export function allQuestions(): AgentQuestion[] {
  return [
    ...canvasNotifications.open.map(({ drawer, surface_id: surface, title }): AgentQuestion => ({
      id: `canvas/${drawer}/${surface}`,
      text: t("{drawer} asks: {name}", { drawer: actorName(drawer), name: title || surface }),
      subject: "",
      isYesOrNo: false,
      place: ["canvas", drawer, surface],
    })),
    ...approvals.waiting.map(({ id, tool, subject, kind }): AgentQuestion => ({
      id: `approval/${id}`,
      text:
        kind === "trust"
          ? t("May programs in this folder run? An agent wants to use {tool}.", { tool })
          : t("An agent wants to use {tool}:", { tool }),
      subject,
      // Trusting a folder has consequences that the chat explains.
      isYesOrNo: kind !== "trust",
      place: ["chat"],
    })),
  ];
}

export async function decide({ id }: AgentQuestion, decision: "allow" | "deny"): Promise<void> {
  await approvals.decide(id.slice("approval/".length), decision);
}

/** Notifications of the desktop for questions that come while the person is elsewhere. */
class DesktopNotices {
  private known: Set<string> | null = null;

  /** Whether the person can be asked for them: the browser asks once. */
  get canAsk(): boolean {
    return "Notification" in window && Notification.permission === "default";
  }

  async ask(): Promise<void> {
    await Notification.requestPermission();
  }

  /** Questions from before the page was opened are in the banner alone. */
  update(questions: readonly AgentQuestion[]): void {
    const fresh = this.known ? questions.filter(({ id }) => !this.known!.has(id)) : [];
    this.known = new Set(questions.map(({ id }) => id));
    if (!("Notification" in window) || Notification.permission !== "granted" || document.hasFocus()) return;
    for (const question of fresh) this.show(question);
  }

  private show({ id, text, subject, place }: AgentQuestion): void {
    const notice = new Notification(text, { body: subject, tag: id, icon: "/icon.svg" });
    notice.addEventListener("click", () => {
      window.focus();
      router.navigate(...(place as [string, ...string[]]));
      notice.close();
    });
  }
}

export const desktopNotices = new DesktopNotices();
