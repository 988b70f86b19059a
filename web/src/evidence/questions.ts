/** The questions about a whole run, what each needs to know, and the tool call that answers it. */
export type QuestionId = "explain_failure" | "trace_call" | "trace" | "check" | "compare_runs" | "find_change";
export type TargetKind = "last" | "test" | "command" | "program" | "configuration_name";
export type Difference = "commit" | "subject" | "env";

export interface Question {
  id: QuestionId;
  title: string;
  about: string;
  kinds: readonly TargetKind[];
}

export interface PointFields {
  /** `cart.py:12`, a function, or text that stands in one line only. */
  place: string;
  expressions: string;
  condition: string;
}

export interface EvidenceForm {
  question: QuestionId;
  kind: TargetKind;
  subject: string;
  cwd: string;
  repeat: number;
  function: string;
  call: string;
  where: string;
  points: PointFields[];
  claim: string;
  expression: string;
  differsBy: Difference;
  other: string;
  timeout: number;
  maxHits: number;
}

export interface ToolCall {
  tool: QuestionId;
  args: Record<string, unknown>;
}

const STARTS: readonly TargetKind[] = ["test", "command", "program", "configuration_name"];

export const QUESTIONS: readonly Question[] = [
  {
    id: "explain_failure",
    title: "Explain a failure",
    about: "Runs it again and shows the failed assertion or exception with the calls behind it.",
    kinds: ["last", "test", "command", "program"],
  },
  {
    id: "trace_call",
    title: "Trace one call",
    about: "One call of a function, line by line, with what each line changed and called.",
    kinds: STARTS,
  },
  {
    id: "trace",
    title: "Trace lines",
    about: "The values of expressions each time a line runs, as a table.",
    kinds: STARTS,
  },
  {
    id: "check",
    title: "Check a condition",
    about: "Whether a condition holds each time a line runs, and the first time it does not.",
    kinds: STARTS,
  },
  {
    id: "compare_runs",
    title: "Compare two runs",
    about: "Where two runs first differ: with another commit, command or environment.",
    kinds: STARTS,
  },
  {
    id: "find_change",
    title: "Find a change",
    about: "The line that changes an expression.",
    kinds: STARTS,
  },
];

export const KIND_TITLES: Record<TargetKind, string> = {
  last: "Last failed command",
  test: "Test",
  command: "Command",
  program: "Program",
  configuration_name: "Configuration",
};

/** The page shows many more rows than an agent reads. */
const MOST_CHARACTERS = 150_000;

export function questionOf(id: QuestionId): Question {
  return QUESTIONS.find((it) => it.id === id)!;
}

export function emptyForm(): EvidenceForm {
  return {
    question: "explain_failure",
    kind: "test",
    subject: "",
    cwd: "",
    repeat: 1,
    function: "",
    call: "outermost",
    where: "",
    points: [{ place: "", expressions: "", condition: "" }],
    claim: "",
    expression: "",
    differsBy: "commit",
    other: "",
    timeout: 60,
    maxHits: 500,
  };
}

/** Another question about the same: what cannot be run for it falls back to a test. */
export function withQuestion(form: EvidenceForm, question: QuestionId): EvidenceForm {
  const kind = questionOf(question).kinds.includes(form.kind) ? form.kind : "test";
  return { ...form, question, kind };
}

export function toolCall(form: EvidenceForm): ToolCall {
  return { tool: form.question, args: { ...target(form), timeout_s: form.timeout, ...ARGUMENTS[form.question](form) } };
}

const ARGUMENTS: Record<QuestionId, (form: EvidenceForm) => Record<string, unknown>> = {
  explain_failure: ({ repeat }) => (repeat > 1 ? { repeat } : {}),
  trace_call: (form) => ({
    function: form.function.trim(),
    call: form.call.trim() || "outermost",
    ...given("where", form.where),
  }),
  trace: (form) => ({ points: form.points.map(pointArguments), max_hits: form.maxHits, max_chars: MOST_CHARACTERS }),
  check: (form) => ({
    ...placeArguments(form.points[0]!.place),
    ...given("condition", form.points[0]!.condition),
    claim: form.claim.trim(),
  }),
  compare_runs: (form) => ({
    points: form.points.map(pointArguments),
    max_hits: form.maxHits,
    max_chars: MOST_CHARACTERS,
    against: AGAINST[form.differsBy](form),
  }),
  find_change: (form) => ({ ...placeArguments(form.points[0]!.place), expression: form.expression.trim() }),
};

const AGAINST: Record<Difference, (form: EvidenceForm) => Record<string, unknown>> = {
  commit: ({ other }) => ({ commit: other.trim() }),
  subject: ({ kind, other }) => ({ [kind]: other.trim() }),
  env: ({ other }) => ({ env: environment(other) }),
};

function target({ kind, subject, cwd }: EvidenceForm): Record<string, unknown> {
  return kind === "last" ? {} : { [kind]: subject.trim(), ...given("cwd", cwd) };
}

function given(name: string, value: string): Record<string, string> {
  return value.trim() ? { [name]: value.trim() } : {};
}

function pointArguments({ place, expressions, condition }: PointFields): Record<string, unknown> {
  return { ...placeArguments(place), expressions: splitExpressions(expressions), ...given("condition", condition) };
}

/** `cart.py:12`, `:12` in the program itself, the name of a function, or else text of a line. */
export function placeArguments(place: string): Record<string, unknown> {
  const text = place.trim();
  const line = /^(.*?):?(\d+)$/.exec(text);
  if (line && (line[1] === "" || text.includes(":")))
    return { ...given("file_path", line[1]!), line_number: Number(line[2]) };
  const inFile = /^(\S+\.\w+)::?([\w.<>$:]+)$/.exec(text);
  if (inFile) return { file_path: inFile[1], function: inFile[2] };
  return /^[\w.$]+$/.test(text) ? { function: text } : { line_text: text };
}

/** At commas that stand in no bracket and no quote. */
export function splitExpressions(text: string): string[] {
  const parts = [""];
  let depth = 0;
  let quote = "";
  for (const char of text) {
    if (quote) quote = char === quote ? "" : quote;
    else if ("'\"`".includes(char)) quote = char;
    else if ("([{".includes(char)) depth++;
    else if (")]}".includes(char)) depth--;
    if (char === "," && !depth && !quote) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}

/** `NAME=value`, one per line or several with spaces between. */
function environment(text: string): Record<string, string> {
  const pairs = text.split(/\n|\s+(?=\w+=)/).map((it) => it.trim());
  return Object.fromEntries(
    pairs.filter((it) => it.includes("=")).map((it) => [it.slice(0, it.indexOf("=")), it.slice(it.indexOf("=") + 1)]),
  );
}

/** What a run is about, for lists and headings. */
export function subjectText(form: EvidenceForm): string {
  const first = form.points[0]?.place.trim() ?? "";
  const about: Record<QuestionId, string> = {
    explain_failure: "",
    trace_call: form.function.trim(),
    trace: form.points.map(({ place }) => place.trim()).join(", "),
    check: form.claim.trim(),
    compare_runs: first,
    find_change: form.expression.trim(),
  };
  return [about[form.question], form.subject.trim()].filter(Boolean).join(" · ");
}

const PREFIX = "evidence ";

/** What was asked last in a folder, as long as this browser knows the address of the daemon. */
export function rememberForm(workspace: string, form: EvidenceForm): void {
  try {
    localStorage.setItem(PREFIX + workspace, JSON.stringify(form));
  } catch {
    // A browser may keep nothing; then the next form is empty.
  }
}

export function rememberedForm(workspace: string): EvidenceForm {
  try {
    const kept = JSON.parse(localStorage.getItem(PREFIX + workspace) ?? "{}") as Partial<EvidenceForm>;
    return { ...emptyForm(), ...kept };
  } catch {
    return emptyForm();
  }
}
