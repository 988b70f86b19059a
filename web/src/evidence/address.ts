/** Where the view is, and how other views lead there: `#evidence/new/QUESTION/KIND/SUBJECT/FOLDER`. */
import { router } from "../app/router";
import type { QuestionId, TargetKind } from "./questions";

export const VIEW = "evidence";
const NEW = "new";

export interface Proposal {
  question: QuestionId;
  kind: TargetKind;
  subject: string;
  /** The folder in which a command ran. */
  cwd: string;
}

/** Opens the view with its form filled in; a person still has to start it. */
export function proposeQuestion({ question, kind, subject, cwd }: Proposal): void {
  router.navigate(VIEW, NEW, question, kind, subject, cwd);
}

export function proposalOf([where, question, kind, subject, cwd]: readonly string[]): Proposal | null {
  if (where !== NEW || !question || !kind) return null;
  return { question: question as QuestionId, kind: kind as TargetKind, subject: subject ?? "", cwd: cwd ?? "" };
}
