import { css } from "lit";

/** What every view looks like: controls, quiet text, and a ring around what has the focus. */
export const sharedStyles = css`
  :host {
    box-sizing: border-box;
  }
  *,
  *::before,
  *::after {
    box-sizing: inherit;
  }
  [hidden] {
    display: none !important;
  }
  button,
  input,
  select,
  textarea {
    font: inherit;
    color: inherit;
  }
  button {
    padding: 0.25rem 0.8rem;
    border: 1px solid var(--line);
    border-radius: 0.4rem;
    background: var(--card);
    cursor: pointer;
  }
  button:hover:not(:disabled) {
    border-color: var(--accent);
  }
  button:disabled {
    opacity: 0.55;
    cursor: default;
  }
  button.primary {
    background: var(--accent);
    border-color: var(--accent);
    color: var(--on-accent);
  }
  button.plain {
    border-color: transparent;
    background: none;
  }
  input,
  select,
  textarea {
    padding: 0.3rem 0.6rem;
    border: 1px solid var(--line);
    border-radius: 0.4rem;
    background: var(--card);
    max-width: 100%;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 1px;
  }
  /* Inside: what scrolls, or lies at an edge, would cut a ring around it. */
  .plain:focus-visible,
  [tabindex="0"]:focus-visible,
  summary:focus-visible,
  pre:focus-visible,
  select:focus-visible,
  input:focus-visible,
  textarea:focus-visible {
    outline-offset: -2px;
  }
  .aligned-left {
    text-align: left;
  }
  .aligned-center {
    text-align: center;
  }
  .aligned-right {
    text-align: right;
  }
  .quiet {
    color: var(--quiet);
  }
  .bad {
    color: var(--bad);
  }
  .mono {
    font-family: var(--mono);
    font-size: 0.9em;
  }
  .empty {
    color: var(--quiet);
    text-align: center;
    padding: 3rem 1rem;
  }
  .unseen {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
`;
