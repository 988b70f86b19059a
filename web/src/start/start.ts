/** The first visit: five steps from an empty page to an agent that debugs, each checked off when it is done. */
import { LitElement, html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { router } from "../app/router";
import { sharedStyles } from "../app/styles";
import { withInlineCode } from "../app/inlineCode";
import { VIEWS } from "../app/views";
import { t } from "../link";
import "../parts/copyButton";
import { icon } from "../parts/icons";
import "../settings/clients";
import "./chinese";
import { demo, type DemoLine } from "./demo";
import { demoEndText } from "./demoText";
import { start, stepsDone, type StartState } from "./startState";
import { startStyles } from "./styles";

const SHELL_COMMAND = "dragoman shell";

@customElement("dragoman-start")
export class DragomanStart extends LitElement {
  private unwatch = () => {};
  private readonly changed = () => this.requestUpdate();

  override connectedCallback(): void {
    super.connectedCallback();
    start.addEventListener("change", this.changed);
    demo.addEventListener("change", this.changed);
    this.unwatch = start.watch();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    start.removeEventListener("change", this.changed);
    demo.removeEventListener("change", this.changed);
    this.unwatch();
  }

  override updated(): void {
    const log = this.renderRoot.querySelector(".log");
    if (log && demo.isRunning) log.scrollTop = log.scrollHeight;
  }

  override render() {
    const it = start.state;
    if (!it) return nothing;
    const done = stepsDone(it);
    const steps = [this.trust(it), this.connect(), this.demo(), this.explain(), this.shell()];
    return html`<div class="all">
      <div class="intro">
        <h2>${t("Debug together with your agents")}</h2>
        <p
          >${t("An agent uses the debugger and the terminal here. You see every stop, value and command, and can step in at any time.")}</p
        >
        <p class="progress">
          <progress
            max=${done.length}
            value=${done.filter(Boolean).length}
            aria-label=${t("{done} of {count} steps done", { done: done.filter(Boolean).length, count: done.length })}
          ></progress>
          <span class="quiet"
            >${t("{done} of {count} steps done", { done: done.filter(Boolean).length, count: done.length })}</span
          >
        </p>
      </div>
      <ol>
        ${steps.map(({ id, title, text, content }, index) => this.step(id, title, text, content, done[index]!, index + 1))}
      </ol>
    </div>`;
  }

  private step(id: string, title: string, text: string, content: unknown, isDone: boolean, number: number) {
    return html`<li id="step-${id}" class=${isDone ? "done" : ""} aria-labelledby="title-${id}">
      <span class="mark"
        >${isDone ? html`${icon("check")}<span class="unseen">${t("done: {step}", { step: title })}</span>` : number}</span
      >
      <div class="body">
        <h3 id="title-${id}">${title}</h3>
        <p>${text}</p>
        ${content}
      </div>
    </li>`;
  }

  private trust({ folder, is_trusted: isTrusted, may_trust: mayTrust }: StartState) {
    const content = html`<div class="row">
        <code class="folder">${folder}</code>
        <span class="chip ${isTrusted ? "good" : ""}">${isTrusted ? t("Trusted") : t("Not trusted")}</span>
        ${mayTrust ? html`<button class="primary" @click=${() => start.trust()}>${t("Trust")}</button>` : nothing}
      </div>
      ${start.error ? html`<p class="bad" role="alert">${withInlineCode(start.error)}</p>` : nothing}
      ${isTrusted || mayTrust ? nothing : html`<p class="quiet">${withInlineCode(t("This folder cannot be trusted from the page. Run `{command}` in a terminal.", { command: "dragoman trust DIR" }))}</p>`}`;
    return {
      id: "trust",
      title: t("Trust this folder"),
      text: t("Programs in a trusted folder may run as you, also when an agent asks for it."),
      content,
    };
  }

  private connect() {
    return {
      id: "connect",
      title: t("Connect an agent"),
      text: t("Your agent finds Dragoman by an entry in its MCP configuration."),
      content: html`<dragoman-clients></dragoman-clients>`,
    };
  }

  private demo() {
    const isRunning = demo.isRunning;
    const content = html`<div class="row">
        ${
          isRunning
            ? html`<button @click=${() => demo.stop()}>${t("Stop the demo")}</button>`
            : html`<button class=${start.state?.was_demo_run ? "" : "primary"} @click=${() => demo.start()}
                >${icon("play")} ${demo.lines.length ? t("Run it again") : t("Run the demo")}</button
              >`
        }
        ${demo.session ? html`<button @click=${() => router.navigate("debugger", demo.session)}>${t("Watch it in the debugger")}</button>` : nothing}
        ${demo.state === "done" || demo.state === "failed" ? html`<span class=${demo.state === "done" ? "good" : "bad"} role="status">${demoEndText(demo)}</span>` : nothing}
      </div>
      ${isRunning || demo.lines.length ? this.log() : nothing}`;
    return {
      id: "demo",
      title: t("Run the demo"),
      text: t(
        "An agent looks for a real bug in a small program, and you watch it. Takes about half a minute, in a folder of its own.",
      ),
      content,
    };
  }

  private log() {
    const shown = demo.lines.filter(({ kind }) => kind !== "folder" && kind !== "done" && kind !== "failed");
    return html`<div class="log" role="log" aria-label=${t("What the agent does")} tabindex="0">
      ${shown.length ? shown.map((line) => logLine(line)) : html`<p class="quiet">${t("starting…")}</p>`}
    </div>`;
  }

  private explain() {
    const hasEvidence = VIEWS.some(({ id }) => id === "evidence");
    const content = html`<div class="row"
      ><button class="primary" @click=${() => router.navigate(hasEvidence ? "evidence" : "chat")}
        >${hasEvidence ? t("Choose a test") : t("Open the chat")}</button
      ></div
    >`;
    return {
      id: "explain",
      title: t("Explain a failing test"),
      text: t("Dragoman runs the test once and says which line and which values made it fail. No agent is needed."),
      content,
    };
  }

  private shell() {
    const content = html`<div class="row"
      ><code class="command">${SHELL_COMMAND}</code>
      <dragoman-copy .text=${SHELL_COMMAND} .what=${t("the command")}></dragoman-copy
    ></div>`;
    return {
      id: "shell",
      title: t("Record a shell"),
      text: t("Run this in a terminal: its commands and their output are recorded, and agents can read what failed."),
      content,
    };
  }

  static override styles = [sharedStyles, startStyles];
}

function logLine({ kind, text }: DemoLine) {
  if (kind === "heading") return html`<p class="heading">${text}</p>`;
  if (kind === "intro") return html`<p class="quiet">${text}</p>`;
  return html`<p class=${kind}><span class="label">${t(kind)}</span> <span class="said">${text}</span></p>`;
}
