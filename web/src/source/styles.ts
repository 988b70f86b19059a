import { css } from "lit";

export const sourceStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
    position: relative;
    background: var(--card);
  }
  #editor {
    flex: 1;
    min-height: 0;
  }
  .empty {
    margin: 0;
    padding: 1rem;
    color: var(--quiet);
  }
  .cm-editor {
    height: 100%;
    background: var(--card);
    color: var(--ink);
  }
  /* The text is longer and wider than what is in sight: the ring is drawn around what scrolls, inside of it. */
  .cm-editor .cm-content:focus-visible {
    outline: 0 none;
    outline-offset: 0;
  }
  .cm-editor.cm-focused {
    outline: none;
  }
  .cm-editor:has(.cm-content:focus-visible) {
    outline: 2px solid var(--accent);
    outline-offset: -2px;
  }
  .cm-editor .cm-scroller {
    font: 0.85rem/21px var(--mono);
  }
  .cm-editor .cm-content {
    padding: 0;
    caret-color: var(--accent);
  }
  .cm-editor .cm-line {
    padding: 0 1rem 0 0.4rem;
  }
  .cm-editor .cm-activeLine {
    background: none;
  }
  .cm-editor.cm-focused .cm-activeLine {
    box-shadow:
      inset 0 1px var(--line),
      inset 0 -1px var(--line);
  }
  .cm-editor .cm-gutters {
    background: var(--card);
    color: var(--quiet);
    border-right: 0;
  }
  .cm-editor .cm-lines .cm-gutterElement {
    padding: 0 0.3rem 0 0;
    min-width: 3.6rem;
    cursor: pointer;
  }
  .gutter {
    display: flex;
    align-items: center;
    justify-content: space-between;
    gap: 0.5rem;
    width: 100%;
    height: 21px;
    padding: 0 0 0 0.6rem;
    border: 0;
    border-radius: 0;
    font: inherit;
    color: inherit;
    user-select: none;
  }
  .gutter .mark.none {
    border-radius: 50%;
    visibility: hidden;
    background: none;
    opacity: 0.55;
  }
  .cm-gutterElement:hover .mark.none {
    visibility: visible;
  }
  .cm-editor .cm-foldGutter .cm-gutterElement {
    width: 1rem;
    padding: 0;
    text-align: center;
    cursor: pointer;
  }
  .fold.open {
    opacity: 0;
  }
  .cm-gutters:hover .fold.open,
  .fold:hover {
    opacity: 1;
  }
  .cm-editor .cm-foldPlaceholder {
    margin: 0 0.3rem;
    padding: 0 0.4rem;
    border: 1px solid var(--line);
    background: var(--raised);
    color: var(--quiet);
  }
  .cm-editor .cm-line.current {
    background: var(--marked);
    box-shadow: inset 3px 0 var(--warn);
  }
  .cm-editor .cm-line.caller {
    background: var(--raised);
    box-shadow: inset 3px 0 var(--good);
  }
  .cm-editor .cm-line.picked {
    box-shadow: inset 3px 0 var(--accent);
  }
  .cm-editor .cm-line ::selection,
  .cm-editor .cm-line::selection {
    background: var(--chosen);
  }
  .ends {
    display: inline-flex;
    gap: 0.8rem;
    margin-left: 2rem;
    font-style: italic;
    color: var(--quiet);
    user-select: none;
    pointer-events: none;
  }
  .ends .changed {
    padding: 0 0.25rem;
    border-radius: 0.2rem;
    background: var(--changed);
    color: var(--ink);
  }
  .cm-editor .cm-tooltip {
    border: 1px solid var(--line);
    border-radius: 0.4rem;
    background: var(--card);
    color: var(--ink);
    box-shadow: 0 4px 16px #0004;
  }
  .card {
    min-width: 14rem;
    max-width: min(36rem, 90vw);
    padding: 0.2rem 0;
  }
  .card dragoman-values {
    display: flex;
    flex-direction: column;
    max-height: 15rem;
  }
  .note.good {
    color: var(--good);
  }
  .note.warn {
    color: var(--warn);
  }
  .note.bad {
    color: var(--bad);
  }
  .asking {
    margin: 0;
    position: absolute;
    right: 1.2rem;
    bottom: 0.6rem;
  }
  .cm-editor .cm-panels {
    background: var(--raised);
    color: var(--ink);
    border: 0;
    font: 0.85rem var(--text);
    z-index: 3;
  }
  .cm-editor .cm-panels-top {
    border-bottom: 1px solid var(--line);
  }
  .cm-editor .cm-panel.cm-search,
  .cm-editor .cm-dialog {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.3rem 0.5rem;
    padding: 0.35rem 2rem 0.35rem 0.6rem;
  }
  .cm-panel.cm-search br {
    display: none;
  }
  .cm-editor .cm-panel.cm-search label {
    font-size: 0.82rem;
    margin: 0;
    display: inline-flex;
    align-items: center;
    gap: 0.25rem;
  }
  .cm-editor .cm-textfield {
    font: inherit;
    margin: 0;
    padding: 0.15rem 0.5rem;
    border: 1px solid var(--line);
    border-radius: 0.3rem;
    background: var(--card);
    color: var(--ink);
    vertical-align: baseline;
  }
  .cm-editor .cm-button {
    font: inherit;
    margin: 0;
    padding: 0.12rem 0.6rem;
    border: 1px solid var(--line);
    border-radius: 0.3rem;
    background: var(--card);
    color: var(--ink);
    vertical-align: baseline;
  }
  .cm-editor .cm-panel [name="close"],
  .cm-editor .cm-dialog-close {
    position: absolute;
    top: 0.3rem;
    right: 0.4rem;
    padding: 0 0.5rem;
    border: 0;
    background: none;
    color: var(--quiet);
    font-size: 1.1rem;
  }
  .cm-editor .cm-searchMatch {
    background: var(--found);
  }
  .cm-editor .cm-searchMatch-selected {
    background: var(--found);
    outline: 2px solid var(--accent);
  }
`;
