import { css } from "lit";

export const activityStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem;
    align-items: center;
    padding: 0.6rem 1rem;
  }
  #find {
    width: 15rem;
  }
  .count {
    margin-left: auto;
    font-size: 0.9rem;
  }
  dragoman-rows {
    flex: 1;
    min-height: 0;
    border-top: 1px solid var(--line);
    background: var(--card);
  }
  .line {
    display: flex;
    align-items: stretch;
    height: 32px;
    border-bottom: 1px solid var(--line);
  }
  .line:hover {
    background: var(--raised);
  }
  .go {
    flex: none;
    align-self: center;
    margin-right: 1rem;
    padding: 0 0.6rem;
    border-radius: 0.4rem;
    color: var(--accent);
    font-size: 0.85rem;
    text-decoration: none;
  }
  .go:hover {
    text-decoration: underline;
  }
  button.group {
    display: flex;
    align-items: center;
    gap: 0.6rem;
    width: 100%;
    height: 32px;
    padding: 0 1rem;
    border: 0;
    border-bottom: 1px solid var(--line);
    border-radius: 0;
    background: var(--paper);
    text-align: left;
    font-size: 0.9rem;
    white-space: nowrap;
  }
  .group .icon {
    flex: none;
    color: var(--accent);
  }
  .group b {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .group .size {
    margin-left: auto;
    font-size: 0.85rem;
  }
  .group time {
    font: 0.85rem/1.6 var(--mono);
  }
  .arrow {
    width: 0.8rem;
    color: var(--quiet);
  }
  .check {
    display: flex;
    align-items: center;
    gap: 0.35rem;
    font-size: 0.92rem;
  }
  .check input {
    accent-color: var(--accent);
  }
  .kind {
    color: var(--accent);
    display: flex;
    align-items: center;
    gap: 0.4rem;
  }
  .kind .icon {
    flex: none;
  }
  .kind.failed {
    color: var(--bad);
  }
  .empty p {
    margin: 0 0 0.8rem;
  }
  a.button {
    display: inline-block;
    padding: 0.25rem 0.8rem;
    border-radius: 0.4rem;
    background: var(--accent);
    color: var(--on-accent);
    text-decoration: none;
  }
  button.row {
    flex: 1;
    min-width: 0;
    display: grid;
    grid-template-columns: 3.6rem 5rem 7rem 10rem 1fr;
    gap: 0.8rem;
    align-items: center;
    width: 100%;
    height: 32px;
    padding: 0 1rem;
    border: 0;
    border-radius: 0;
    text-align: left;
    font: 0.85rem/1.6 var(--mono);
  }
  button.row:hover,
  button.row.opened {
    background: var(--raised);
  }
  .row > * {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .number {
    text-align: right;
  }
  .number,
  time {
    color: var(--quiet);
  }
  .who {
    color: var(--quiet);
  }
  aside {
    max-height: 45%;
    overflow: auto;
    border-top: 2px solid var(--accent);
    background: var(--card);
    padding: 0.6rem 1rem;
  }
  .head {
    display: flex;
    flex-wrap: wrap;
    gap: 0.3rem 1rem;
    align-items: center;
  }
  .head button {
    margin-left: auto;
  }
  pre {
    margin: 0.4rem 0;
    font: 0.85rem/1.45 var(--mono);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  /* The head of the group says it. */
  .inside .who {
    visibility: hidden;
  }
  @media (max-width: 40rem) {
    #find {
      width: 100%;
    }
    button.row {
      grid-template-columns: 4.6rem 1.2rem 5rem 1fr;
      padding: 0 0.6rem;
      gap: 0.5rem;
    }
    .inside button.row {
      grid-template-columns: 4.6rem 1.2rem 1fr;
    }
    .inside .who {
      display: none;
    }
    .number,
    .area,
    .text:empty {
      display: none;
    } /* a sentence says it better */
    .go {
      margin-right: 0.3rem;
    }
  }
`;
