/** What to run, and what to ask about it. */
import { LitElement, html, nothing } from "lit";
import { customElement, property } from "lit/decorators.js";
import { sharedStyles } from "../app/styles";
import { t } from "../link";
import type { EvidenceController } from "./evidenceController";
import { formStyles } from "./formStyles";
import {
  KIND_TITLES,
  QUESTIONS,
  withQuestion,
  type Difference,
  type EvidenceForm,
  type PointFields,
  type TargetKind,
} from "./questions";

const PLACEHOLDERS: Record<TargetKind, string> = {
  last: "",
  test: "tests/test_app.py::test_total",
  command: "pytest -x tests",
  program: "app.py",
  configuration_name: "",
};
const CALLS: Record<string, string> = {
  outermost: "the first, outermost call",
  last: "the last call",
  failing: "the call that fails",
};
const DIFFERENCES: Record<Difference, string> = {
  commit: "another commit",
  subject: "something else that is run",
  env: "environment variables",
};
const EXAMPLES: Record<Difference, string> = { commit: "HEAD~1", subject: "", env: "DEBUG=1" };

@customElement("dragoman-evidence-form")
export class EvidenceStartForm extends LitElement {
  @property({ attribute: false }) controller!: EvidenceController;
  @property({ attribute: false }) form!: EvidenceForm;

  override render() {
    const { form } = this;
    return html`<form @submit=${this.submit}>
      <div class="questions" role="radiogroup" aria-label=${t("Question")}>
        ${QUESTIONS.map(
          (it) =>
            html`<label class="choice ${it.id === form.question ? "chosen" : ""}"
              ><input
                type="radio"
                name="question"
                aria-label=${t(it.title)}
                aria-description=${t(it.about)}
                value=${it.id}
                .checked=${it.id === form.question}
                @change=${() => this.controller.change(withQuestion(form, it.id))}
              /><b>${t(it.title)}</b><span class="about">${t(it.about)}</span></label
            >`,
        )}
      </div>
      <div class="fields">${this.target()} ${this.fields()} ${this.limits()}</div>
      <div class="end"
        ><button id="ask" class="primary">${t(form.question === "explain_failure" ? "Run and explain" : "Run")}</button
        >${this.folder()}</div
      >
    </form>`;
  }

  /** Whatever has sessions can be asked about as well. */
  private folder() {
    const { folders, workspace } = this.controller;
    if (folders.length < 2)
      return html`<span class="quiet small">${t("It runs as you, in {folder}.", { folder: workspace })}</span>`;
    return html`<label class="small"
      ><span class="quiet">${t("Folder")}</span>
      <select
        id="folder"
        @change=${(event: Event) => this.controller.moveTo((event.target as HTMLSelectElement).value)}
      >
        ${folders.map((it) => html`<option value=${it} .selected=${it === workspace}>${it}</option>`)}
      </select></label
    >`;
  }

  private set(changes: Partial<EvidenceForm>): void {
    this.controller.change({ ...this.form, ...changes });
  }

  private readonly submit = (event: SubmitEvent) => {
    event.preventDefault();
    void this.controller.ask(this.form);
  };

  private target() {
    const { form, controller } = this;
    const kinds = controller.kindsOf(form);
    const shown = kinds.includes(form.kind) ? kinds : [form.kind, ...kinds];
    return html`<div class="field target">
      <label class="kind"
        ><span class="label">${t("What to run")}</span>
        <select
          id="kind"
          @change=${(event: Event) => this.set({ kind: (event.target as HTMLSelectElement).value as TargetKind })}
        >
          ${shown.map((it) => html`<option value=${it} .selected=${it === form.kind}>${t(KIND_TITLES[it])}</option>`)}
        </select></label
      >
      ${this.subject()}
      ${form.cwd ? html`<span class="quiet small">${t("in {folder}", { folder: form.cwd })} <button type="button" class="plain" aria-label=${t("Run it in the workspace instead")} @click=${() => this.set({ cwd: "" })}>×</button></span>` : nothing}
    </div>`;
  }

  private subject() {
    const { form, controller } = this;
    if (form.kind === "last") return html`<code class="subject">${controller.lastFailure?.command ?? ""}</code>`;
    if (form.kind === "configuration_name") {
      const all = controller.configurations.all ?? [];
      return html`<label class="subject"
        ><span class="unseen">${t("Configuration")}</span>
        <select
          id="subject"
          required
          @change=${(event: Event) => this.set({ subject: (event.target as HTMLSelectElement).value })}
        >
          ${all.some(({ name }) => name === form.subject) ? nothing : html`<option value="" .selected=${true}>${t("Choose one")}</option>`}
          ${all.map(({ name }) => html`<option value=${name} .selected=${name === form.subject}>${name}</option>`)}
        </select></label
      >`;
    }
    return html`<label class="subject"
      ><span class="unseen">${t(KIND_TITLES[form.kind])}</span
      >${this.input("subject", form.subject, PLACEHOLDERS[form.kind], true)}</label
    >`;
  }

  private input(
    id: "subject" | "function" | "where" | "claim" | "expression" | "other",
    value: string,
    placeholder: string,
    isRequired = false,
  ) {
    return html`<input
        id=${id}
        class="mono"
        spellcheck="false"
        autocomplete="off"
        list=${id === "subject" || id === "function" ? `${id}s` : nothing}
        .value=${value}
        placeholder=${placeholder}
        ?required=${isRequired}
        @input=${(event: InputEvent) => this.set({ [id]: (event.target as HTMLInputElement).value })}
      />
      ${id === "subject" || id === "function" ? html`<datalist id="${id}s">${this.controller.known(id).map((it) => html`<option value=${it}></option>`)}</datalist>` : nothing}`;
  }

  private labelled(title: string, content: unknown, hint = "") {
    return html`<label class="field"
      ><span class="label">${t(title)}${hint ? html` <span class="quiet">${t(hint)}</span>` : nothing}</span>
      ${content}</label
    >`;
  }

  private fields() {
    const { form } = this;
    switch (form.question) {
      case "explain_failure":
        return nothing;
      case "trace_call":
        return html`${this.labelled("Function", this.input("function", form.function, "Cart.total", true))}
        ${this.labelled(
          "Which call",
          html`<select
            id="call"
            @change=${(event: Event) => this.set({ call: (event.target as HTMLSelectElement).value })}
          >
            ${Object.entries(CALLS).map(([value, title]) => html`<option value=${value} .selected=${value === form.call}>${t(title)}</option>`)}
          </select>`,
        )}
        ${this.labelled("Only where", this.input("where", form.where, "count > 2"), "optional")}`;
      case "trace":
        return this.points();
      case "check":
        return html`${this.point(form.points[0]!, 0, false)}
        ${this.labelled("Condition that should hold", this.input("claim", form.claim, "total >= 0", true))}`;
      case "find_change":
        return html`${this.labelled("Expression", this.input("expression", form.expression, "cart.items", true))}
        ${this.point(form.points[0]!, 0, false, "From the first hit of")}`;
      case "compare_runs":
        return html`${this.points()} ${this.against()}`;
    }
  }

  private against() {
    const { form } = this;
    return html`<div class="field target">
      <label class="kind"
        ><span class="label">${t("The other run has")}</span>
        <select
          id="differs"
          @change=${(event: Event) => this.set({ differsBy: (event.target as HTMLSelectElement).value as Difference, other: "" })}
        >
          ${Object.entries(DIFFERENCES).map(([value, title]) => html`<option value=${value} .selected=${value === form.differsBy}>${t(title)}</option>`)}
        </select></label
      >
      <label class="subject"
        ><span class="unseen">${t("The other run")}</span
        >${this.input("other", form.other, EXAMPLES[form.differsBy] || PLACEHOLDERS[form.kind], true)}</label
      >
    </div>`;
  }

  private points() {
    const { points } = this.form;
    return html`<fieldset
      ><legend class="label">${t("Where, and what")}</legend>
      ${points.map((it, index) => this.point(it, index, true))}
      <button
        type="button"
        class="plain add"
        @click=${() => this.set({ points: [...points, { place: "", expressions: "", condition: "" }] })}
        >+ ${t("Another line")}</button
      ></fieldset
    >`;
  }

  private point(point: PointFields, index: number, hasExpressions: boolean, title = "Line or function") {
    const change = (changes: Partial<PointFields>) =>
      this.set({ points: this.form.points.map((it, at) => (at === index ? { ...it, ...changes } : it)) });
    const field = (name: keyof PointFields, label: string, placeholder: string, isRequired = false, hint = "") =>
      this.labelled(
        label,
        html`<input
          class="mono"
          spellcheck="false"
          autocomplete="off"
          data-field=${name}
          .value=${point[name]}
          placeholder=${placeholder}
          ?required=${isRequired}
          @input=${(event: InputEvent) => change({ [name]: (event.target as HTMLInputElement).value })}
        />`,
        hint,
      );
    return html`<div class="point">
      ${field("place", title, "cart.py:12", true)}
      ${hasExpressions ? field("expressions", "Expressions", "total, item.price", false, "default: all locals") : nothing}
      ${this.form.question === "find_change" ? nothing : field("condition", "Only where", "count > 2", false, "optional")}
      ${
        hasExpressions && this.form.points.length > 1
          ? html`<button
              type="button"
              class="plain remove"
              aria-label=${t("Remove this line")}
              @click=${() => this.set({ points: this.form.points.filter((_, at) => at !== index) })}
              >×</button
            >`
          : nothing
      }
    </div>`;
  }

  private limits() {
    const { form } = this;
    const number = (id: "timeout" | "repeat" | "maxHits", title: string, most: number) =>
      html`<label class="number"
        ><span class="label">${t(title)}</span
        ><input
          id=${id}
          type="number"
          min="1"
          max=${most}
          .value=${String(form[id])}
          @input=${(event: InputEvent) => this.set({ [id]: Math.max(1, Math.min(most, (event.target as HTMLInputElement).valueAsNumber || 1)) })}
      /></label>`;
    const hasHits = form.question === "trace" || form.question === "compare_runs";
    return html`<div class="limits"
      >${number("timeout", "Time limit (s)", 600)}
      ${form.question === "explain_failure" ? number("repeat", "Runs at most, until it fails", 50) : nothing}
      ${hasHits ? number("maxHits", "Rows at most", 5000) : nothing}</div
    >`;
  }

  static override styles = [sharedStyles, formStyles];
}
