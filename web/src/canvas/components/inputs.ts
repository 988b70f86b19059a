/** The basic catalogue: what a person enters and presses. What is entered is kept here until something is pressed. */
import { html, nothing } from "lit";
import { t } from "../../link";
import { define, type Node, type Painter } from "../model";
import { hasAction, list, number, record, textProperty, text } from "../values";

const TYPES: Record<string, string> = { number: "number", obscured: "password", shortText: "text", date: "date" };

function labelledInput(painter: Painter, node: Node, field: unknown) {
  return html`<label class="field"
    ><span>${textProperty(painter, node, "label")}</span>${field}${objections(painter, node)}</label
  >`;
}

function objections(painter: Painter, node: Node) {
  return painter.objections(node).map((reason) => html`<small class="bad">${reason}</small>`);
}

define("Button", (node, painter) => {
  const look = { primary: "primary", borderless: "plain" }[text(node.properties.variant)] ?? "";
  const against = painter.objections(node);
  return html`<button
    class=${look}
    title=${against.join("\n") || nothing}
    aria-disabled=${painter.isBusy}
    ?disabled=${!hasAction(node) || against.length > 0}
    @click=${() => painter.act(node)}
  >
    ${painter.inside(node)}
  </button>`;
});

define("TextField", (node, painter) => {
  const entered = (event: InputEvent) => painter.enter(node, "value", (event.target as HTMLInputElement).value);
  const variant = text(node.properties.variant);
  const placeholder = textProperty(painter, node, "placeholder");
  const value = textProperty(painter, node, "value");
  const field =
    variant === "longText"
      ? html`<textarea rows="4" placeholder=${placeholder} .value=${value} @input=${entered}></textarea>`
      : html`<input
          type=${TYPES[variant] ?? "text"}
          autocomplete="off"
          placeholder=${placeholder}
          .value=${value}
          @input=${entered}
        />`;
  return labelledInput(painter, node, field);
});

define(
  "CheckBox",
  (node, painter) =>
    html`<label class="choice">
      <input
        type="checkbox"
        .checked=${painter.value(node, "value") === true}
        @change=${(event: Event) => painter.enter(node, "value", (event.target as HTMLInputElement).checked)}
      /><span>${textProperty(painter, node, "label")}</span>${objections(painter, node)}
    </label>`,
);

define("ChoicePicker", (node, painter) => {
  const memory = painter.memory(node, { words: "" });
  const several = node.properties.variant === "multipleSelection";
  const chosen = new Set(list(painter.value(node, "value")).map(text));
  const choose = (value: string, isChosen: boolean) => {
    const next = several ? new Set(chosen) : new Set<string>();
    if (isChosen) next.add(value);
    else next.delete(value);
    painter.enter(node, "value", [...next]);
  };
  const options = list(node.properties.options)
    .map(record)
    .map((it) => ({ value: text(it.value), label: text(it.label) || text(it.value) }));
  const fitting = options.filter(({ label }) => label.toLowerCase().includes(memory.words.toLowerCase()));
  return html`<fieldset class=${node.properties.displayStyle === "chips" ? "chips" : ""}>
    ${textProperty(painter, node, "label") ? html`<legend>${textProperty(painter, node, "label")}</legend>` : nothing}
    ${node.properties.filterable === true ? filter(memory, painter) : nothing}
    ${fitting.map(
      ({ value, label }) =>
        html`<label class="choice"
          ><input
            type=${several ? "checkbox" : "radio"}
            name=${node.id}
            .checked=${chosen.has(value)}
            @change=${(event: Event) => choose(value, (event.target as HTMLInputElement).checked)}
          /><span>${label}</span></label
        >`,
    )}
    ${objections(painter, node)}
  </fieldset>`;
});

function filter(memory: { words: string }, painter: Painter) {
  return html`<input
    class="filter"
    type="search"
    aria-label=${t("Filter choices")}
    placeholder=${t("Filter choices")}
    .value=${memory.words}
    @input=${(event: InputEvent) => {
      memory.words = (event.target as HTMLInputElement).value;
      painter.redraw();
    }}
  />`;
}

define("Slider", (node, painter) => {
  const { min, max, steps } = node.properties;
  const [low, high] = [number(min), number(max, 100)];
  const value = number(painter.value(node, "value"), low);
  const step = number(steps) > 0 ? (high - low) / number(steps) : "any";
  const field = html`<span class="slider"
    ><input
      type="range"
      min=${low}
      max=${high}
      step=${step}
      .value=${String(value)}
      @input=${(event: InputEvent) => painter.enter(node, "value", Number((event.target as HTMLInputElement).value))}
    /><output>${Math.round(value * 1000) / 1000}</output></span
  >`;
  return labelledInput(painter, node, field);
});

define("DateTimeInput", (node, painter) => {
  const { enableDate = true, enableTime = false } = node.properties;
  const type = enableDate && enableTime ? "datetime-local" : enableTime ? "time" : "date";
  const field = html`<input
    type=${type}
    .value=${localDate(textProperty(painter, node, "value"), type)}
    min=${textProperty(painter, node, "min") || nothing}
    max=${textProperty(painter, node, "max") || nothing}
    @input=${(event: InputEvent) => painter.enter(node, "value", (event.target as HTMLInputElement).value)}
  />`;
  return labelledInput(painter, node, field);
});

/** The part of an ISO time that the browser's field takes. */
function localDate(value: string, type: string): string {
  const [date = "", time = ""] = value.includes("T") ? value.split("T") : ["", value];
  const short = /^\d\d:\d\d/.exec(time)?.[0] ?? "";
  if (type === "time") return short;
  const day = date || (/^\d{4}-\d\d-\d\d$/.test(value) ? value : "");
  return type === "date" ? day : day && short ? `${day}T${short}` : "";
}
