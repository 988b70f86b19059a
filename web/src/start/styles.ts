import { css } from "lit";

export const startStyles = css`
  :host {
    display: block;
    min-height: 0;
  }
  .all {
    height: 100%;
    overflow: auto;
    padding: 1.6rem max(1rem, calc((100% - 52rem) / 2)) 3rem;
  }
  h2 {
    margin: 0;
    font-size: 1.6rem;
    line-height: 1.25;
    letter-spacing: -0.01em;
  }
  .intro > p {
    margin: 0.5rem 0 0;
    max-width: 42rem;
    color: var(--quiet);
  }
  .progress {
    display: flex;
    align-items: center;
    gap: 0.8rem;
    font-size: 0.9rem;
  }
  progress {
    appearance: none;
    width: 12rem;
    height: 0.4rem;
    border: 0;
    border-radius: 1rem;
    overflow: hidden;
    background: var(--line);
  }
  progress::-webkit-progress-bar {
    background: var(--line);
  }
  progress::-webkit-progress-value {
    background: var(--good);
    transition: width 0.3s;
  }
  progress::-moz-progress-bar {
    background: var(--good);
  }
  ol {
    list-style: none;
    margin: 1.4rem 0 0;
    padding: 0;
    border: 1px solid var(--line);
    border-radius: 0.7rem;
    background: var(--card);
  }
  li {
    display: flex;
    gap: 1rem;
    padding: 1.1rem 1.2rem;
  }
  li + li {
    border-top: 1px solid var(--line);
  }
  .mark {
    flex: none;
    position: relative;
    display: grid;
    place-items: center;
    width: 2rem;
    height: 2rem;
    border: 1.5px solid var(--line);
    border-radius: 50%;
    color: var(--quiet);
    font-weight: 600;
  }
  .done > .mark {
    border-color: var(--good);
    background: var(--added);
    color: var(--good);
  }
  .body {
    flex: 1;
    min-width: 0;
  }
  h3 {
    margin: 0.2rem 0 0;
    font-size: 1.05rem;
  }
  .body > p {
    margin: 0.15rem 0 0.6rem;
    color: var(--quiet);
  }
  .row {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.5rem 0.8rem;
  }
  .row button {
    display: inline-flex;
    align-items: center;
    gap: 0.35rem;
  }
  code {
    font: 0.9rem var(--mono);
    overflow-wrap: anywhere;
  }
  .command,
  .folder {
    padding: 0.25rem 0.6rem;
    border-radius: 0.4rem;
    background: var(--raised);
  }
  .chip {
    padding: 0.05rem 0.6rem;
    border: 1px solid currentColor;
    border-radius: 1rem;
    font-size: 0.8rem;
    color: var(--warn);
  }
  .good,
  .chip.good {
    color: var(--good);
  }
  .log {
    margin-top: 0.8rem;
    max-height: 20rem;
    overflow: auto;
    padding: 0.5rem 0.9rem;
    border: 1px solid var(--line);
    border-radius: 0.5rem;
    background: var(--paper);
    font-size: 0.88rem;
  }
  .log p {
    display: flex;
    gap: 0.7rem;
    margin: 0.15rem 0;
  }
  .log .heading {
    margin-top: 0.6rem;
    font-weight: 600;
  }
  .label {
    flex: none;
    width: 3.6rem;
    color: var(--quiet);
  }
  .said {
    min-width: 0;
    overflow-wrap: anywhere;
  }
  .asks .said,
  .gets .said,
  .writes .said {
    font-family: var(--mono);
    font-size: 0.94em;
  }
  .asks .said {
    color: var(--accent);
  }
  .thinks .said {
    color: var(--good);
  }
  @media (max-width: 40rem) {
    .all {
      padding-top: 1rem;
    }
    h2 {
      font-size: 1.3rem;
    }
    li {
      padding: 0.9rem;
      gap: 0.7rem;
    }
    .mark {
      width: 1.6rem;
      height: 1.6rem;
      font-size: 0.9rem;
    }
  }
`;
