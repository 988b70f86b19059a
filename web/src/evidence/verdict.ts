/** What came out of a run, in a few words: for its line in the list and the heading of its result. */
import { t } from "../link";
import type { EvidenceRun } from "./evidenceController";
import type { QuestionId } from "./questions";
import type {
  CheckedClaim,
  ComparedRuns,
  ExplainedFailure,
  Exception,
  FoundChange,
  TraceResult,
  TracedCallResult,
} from "./results/toolResults";

export interface Verdict {
  text: string;
  tone: "good" | "bad" | "warn" | "";
}

type Data = Record<string, unknown>;

const VERDICTS: Record<QuestionId, (data: Data) => Verdict> = {
  explain_failure: (data) => explained(data as unknown as ExplainedFailure),
  trace_call: (data) => traced(data as unknown as TracedCallResult),
  trace: (data) => {
    const { hits, ended } = data as unknown as TraceResult;
    const text = hits ? t("rows: {count}", { count: hits }) : t("never reached");
    return { text, tone: !hits ? "warn" : ended.how === "exception" ? "bad" : "" };
  },
  check: (data) => {
    const { verdict, hits } = data as unknown as CheckedClaim;
    if (verdict === "holds") return { text: t("holds at all {count} hits", { count: hits }), tone: "good" };
    if (verdict === "broken") return { text: t("broken at hit {hit}", { hit: hits }), tone: "bad" };
    return { text: t("never reached"), tone: "warn" };
  },
  compare_runs: (data) => {
    const { verdict, hit } = data as unknown as ComparedRuns;
    if (verdict === "same") return { text: t("no difference"), tone: "good" };
    return { text: hit ? t("first difference at hit {hit}", { hit }) : t("the runs end differently"), tone: "bad" };
  },
  find_change: (data) => {
    const { verdict, place, steps } = data as unknown as FoundChange;
    if (verdict === "changed") return { text: t("changed at {place}", { place: place ?? "?" }), tone: "bad" };
    if (verdict === "unchanged") return { text: t("unchanged in {steps} steps", { steps }), tone: "good" };
    return { text: t("never reached"), tone: "warn" };
  },
};

export function verdictOf(run: EvidenceRun): Verdict {
  if (run.state === "running") return { text: t("running…"), tone: "" };
  if (run.state === "cancelled") return { text: t("cancelled"), tone: "" };
  if (run.error) return { text: run.error.message, tone: "warn" };
  return VERDICTS[run.form.question](run.data);
}

/** For the heading of a result, below which a card says the rest. */
export function shortVerdictOf(run: EvidenceRun): Verdict {
  const verdict = verdictOf(run);
  const isCard = run.form.question === "explain_failure" && run.state === "done";
  const { verdict: how } = run.data as unknown as ExplainedFailure;
  return isCard && (how === "failed" || how === "crashed") ? { ...verdict, text: t(how) } : verdict;
}

/** The exception of the first failure, whichever way it was run. */
export function firstException({ test, crash, ended }: ExplainedFailure): Exception | undefined {
  return test?.failures?.[0]?.exception ?? crash?.ended.exception ?? ended.exception;
}

export function exceptionText({ type, message }: Exception): string {
  return [type, message.split("\n")[0]].filter(Boolean).join(": ");
}

function explained(result: ExplainedFailure): Verdict {
  const raised = firstException(result);
  if (result.verdict === "limit")
    return { text: result.ended.deadlock ? t("hangs: deadlock") : t("did not end in time"), tone: "bad" };
  if (result.verdict === "no tests") return { text: t("no tests ran"), tone: "warn" };
  if (result.verdict === "passed") return { text: t("did not fail again"), tone: "good" };
  return { text: raised ? exceptionText(raised) : endText(result), tone: "bad" };
}

function endText({ ended }: ExplainedFailure): string {
  if (ended.signal) return ended.signal;
  return typeof ended.exit_code === "number" ? t("exit code {code}", { code: ended.exit_code }) : t("failed");
}

function traced({ call_ended: how, value, error }: TracedCallResult): Verdict {
  if (how === "returned") return { text: value === undefined ? t("returned") : `→ ${value}`, tone: "" };
  if (how === "raised") return { text: error ?? t("raised an exception"), tone: "bad" };
  if (how === "not called") return { text: t("never called"), tone: "warn" };
  return { text: t(how === "suspended" ? "suspended" : "did not end"), tone: "warn" };
}
