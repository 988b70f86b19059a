/** Questions that are answered together, and a question with two answers. */
import { html, nothing } from "lit";
import { t } from "../../link";
import { define, type Node, type Painter } from "../model";
import { list, records, textProperty, text } from "../values";

type Values = Record<string, unknown>;

const INPUTS: Record<string, string> = { number: "number", secret: "password" };

define(
  "Form",
  (node, painter) => {
    const fields = records(node.properties.fields);
    const memory = painter.memory(node, { values: {} });
    memory.values = answers(fields, memory.values);
    const submit = async (event: Event) => {
      event.preventDefault();
      if (!(await painter.act(node, { values: memory.values }))) return;
      memory.values = {}; // another question with the same names begins with its own values, and no secret stays
      painter.setAnswered(node, true);
    };
    const cancel = async () => (await painter.act(node)) && painter.setAnswered(node, true);
    if (painter.isAnswered(node)) return answeredForm(node, painter);
    return html`<form class="form card" @submit=${submit}>
      ${textProperty(painter, node, "title") ? html`<div class="h h3" role="heading" aria-level="3">${textProperty(painter, node, "title")}</div>` : nothing}
      <small class="quiet">${t("Asked by {drawer}", { drawer: painter.drawer })}</small>
      ${fields.map((field) => question(field, memory.values, painter))}
      <div class="box row">
        <button class="primary" aria-disabled=${painter.isBusy}
          >${textProperty(painter, node, "submitLabel") || t("Send")}</button
        >
        <button type="button" aria-disabled=${painter.isBusy} @click=${cancel}>
          ${textProperty(painter, node, "cancelLabel") || t("Cancel")}
        </button>
      </div>
    </form>`;
  },
  { fills: true },
);

/** Closed until the agent draws it again; some forms can be sent more than once. */
function answeredForm(node: Node, painter: Painter) {
  return html`<div class="form card answered" tabindex="-1">
    ${textProperty(painter, node, "title") ? html`<div class="h h3" role="heading" aria-level="3">${textProperty(painter, node, "title")}</div>` : nothing}
    <div class="box row"
      ><span class="quiet">${t("Sent to {drawer}", { drawer: painter.drawer })}</span>
      <button type="button" @click=${() => painter.setAnswered(node, false)}>${t("Answer again")}</button></div
    >
  </div>`;
}

/** For the current questions: the entered values, or else the initial ones. */
function answers(fields: Values[], entered: Values): Values {
  const empty: Record<string, unknown> = { yes_no: false, choices: [], number: null };
  return Object.fromEntries(
    fields.map((field) => {
      const [name, kind] = [text(field.name), text(field.kind)];
      return [name, name in entered ? entered[name] : (field.value ?? (kind in empty ? empty[kind] : ""))];
    }),
  );
}

function question(field: Values, values: Values, painter: Painter) {
  const name = text(field.name);
  const set = (value: unknown) => {
    values[name] = value;
    painter.redraw();
  };
  const label = html`<span
    >${text(field.label) || name}${field.required ? html`<abbr title=${t("required")}>*</abbr>` : nothing}</span
  >`;
  const help = field.help ? html`<small class="quiet">${text(field.help)}</small>` : nothing;
  if (field.kind === "yes_no")
    return html`<label class="choice">${check(values[name] === true, set)}${label}</label>${help}`;
  if (field.kind === "choices")
    return html`<fieldset><legend>${label}</legend>${multiChoice(field, list(values[name]), set)}</fieldset>${help}`;
  return html`<label class="field">${label}${input(field, values[name], set)}${help}</label>`;
}

function check(isOn: boolean, set: (value: boolean) => void) {
  return html`<input
    type="checkbox"
    .checked=${isOn}
    @change=${(event: Event) => set((event.target as HTMLInputElement).checked)}
  />`;
}

function multiChoice(field: Values, chosen: unknown[], set: (value: unknown[]) => void) {
  return list(field.options)
    .map(text)
    .map(
      (option) =>
        html`<label class="choice">
          ${check(chosen.includes(option), (isOn) => set(isOn ? [...chosen, option] : chosen.filter((it) => it !== option)))}
          <span>${option}</span>
        </label>`,
    );
}

function input(field: Values, value: unknown, set: (value: unknown) => void) {
  const entered = (event: Event) => {
    const typed = (event.target as HTMLInputElement).value;
    set(field.kind === "number" ? (typed === "" ? null : Number(typed)) : typed);
  };
  if (field.kind === "choice")
    return html`<select ?required=${field.required === true} @change=${entered}>
      <option value="" .selected=${text(value) === ""}></option>
      ${list(field.options)
        .map(text)
        .map((option) => html`<option value=${option} .selected=${option === text(value)}>${option}</option>`)}
    </select>`;
  if (field.kind === "long_text")
    return html`<textarea
      rows="4"
      ?required=${field.required === true}
      .value=${text(value)}
      @input=${entered}
    ></textarea>`;
  return html`<input
    type=${INPUTS[text(field.kind)] ?? "text"}
    step="any"
    autocomplete="off"
    ?required=${field.required === true}
    .value=${text(value)}
    @input=${entered}
  />`;
}

define("Confirm", (node: Node, painter) => {
  const confirm = (confirmed: boolean) => painter.act(node, { componentId: node.component_id, confirmed });
  return html`<div class="card box column">
    <div>${textProperty(painter, node, "message")}</div>
    <div class="box row">
      <button class="primary" aria-disabled=${painter.isBusy} @click=${() => confirm(true)}
        >${textProperty(painter, node, "confirmLabel") || t("Confirm")}</button
      >
      <button aria-disabled=${painter.isBusy} @click=${() => confirm(false)}
        >${textProperty(painter, node, "cancelLabel") || t("Cancel")}</button
      >
    </div>
  </div>`;
});
