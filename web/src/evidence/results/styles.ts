import { css } from "lit";

/** What the results share: cards, headings in them, values and places. */
export const resultStyles = css`
  :host {
    display: block;
    min-width: 0;
  }
  .card {
    border: 1px solid var(--line);
    border-radius: 0.5rem;
    background: var(--card);
    overflow: hidden;
    margin-bottom: 0.8rem;
  }
  .card > h3,
  .card > header {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 0.2rem 0.8rem;
    margin: 0;
    padding: 0.45rem 0.8rem;
    border-bottom: 1px solid var(--line);
    background: var(--raised);
    font-size: 0.85rem;
    font-weight: 600;
    overflow-wrap: anywhere;
  }
  .card > h3 > * {
    min-width: 0;
  }
  .card .inner {
    padding: 0.6rem 0.8rem;
  }
  h3 .quiet,
  header .quiet {
    font-weight: 400;
  }
  .place {
    font: 0.82rem var(--mono);
    color: var(--quiet);
    overflow-wrap: anywhere;
  }
  .code {
    font: 0.85rem/1.5 var(--mono);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    tab-size: 4;
    margin: 0;
  }
  .small {
    font-size: 0.82rem;
  }
  .good {
    color: var(--good);
  }
  .warn {
    color: var(--warn);
  }
  ul,
  ol {
    list-style: none;
    margin: 0;
    padding: 0;
  }
  p {
    margin: 0.2rem 0;
  }
  summary {
    cursor: pointer;
  }
  .values {
    display: grid;
    grid-template-columns: max-content minmax(0, 1fr);
    gap: 0.1rem 0.9rem;
    margin: 0;
    font: 0.84rem/1.5 var(--mono);
  }
  .values dt {
    color: var(--quiet);
    max-width: 16rem;
    overflow-wrap: anywhere;
  }
  .values dd {
    margin: 0;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
  }
  @media (max-width: 40rem) {
    .values {
      grid-template-columns: minmax(0, 1fr);
    }
    .values dd {
      padding-left: 0.8rem;
    }
  }
`;
