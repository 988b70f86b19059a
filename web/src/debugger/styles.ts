import { css } from "lit";

export const debuggerStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.4rem 1rem;
    padding: 0.5rem 0.8rem;
    border-bottom: 1px solid var(--line);
  }
  .bar {
    font-size: 0.92rem;
  }
  .controls {
    display: flex;
    gap: 0.3rem;
    align-items: center;
  }
  .controls {
    flex-wrap: wrap;
  }
  .controls [aria-disabled="true"] {
    opacity: 0.55;
    cursor: default;
  }
  .controls button {
    min-height: 2rem;
    display: flex;
    align-items: center;
    gap: 0.35rem;
    padding: 0.25rem 0.55rem;
  }
  .icon {
    color: var(--accent);
    min-width: 1.1em;
    text-align: center;
  }
  #pause .icon {
    font-size: 0.75em;
    letter-spacing: -0.1em;
  }
  #stop .icon {
    color: var(--bad);
  }
  .word {
    font-size: 0.85rem;
  }
  #standing {
    align-self: center;
    flex: 1 1 14rem;
    min-width: 0;
    margin: 0;
    padding: 0.2rem 0.8rem;
    overflow: hidden;
    text-align: right;
    text-overflow: ellipsis;
    white-space: nowrap;
    font-size: 0.88rem;
  }
  .trouble {
    display: flex;
    justify-content: space-between;
    align-items: center;
    margin: 0;
    padding: 0.3rem 0.8rem;
    background: var(--bad-card);
    color: var(--bad);
    overflow-wrap: anywhere;
  }
  .trouble button {
    flex: none;
  }
  .would-run {
    display: block;
    white-space: pre-wrap;
    max-height: 12rem;
    overflow: auto;
  }
  .then {
    display: flex;
    flex-wrap: wrap;
    justify-content: space-between;
    align-items: center;
    gap: 0.3rem 1rem;
    margin: 0;
    padding: 0.2rem 0.8rem;
    background: var(--marked);
    font-size: 0.9rem;
    overflow-wrap: anywhere;
  }
  .ways {
    display: flex;
    gap: 0.3rem;
    align-items: center;
  }
  .ways button {
    padding: 0.1rem 0.6rem;
  }
  #keys {
    flex: none;
    margin-left: auto;
    width: 1.7rem;
    height: 1.7rem;
    padding: 0;
    border: 1px solid var(--line);
    border-radius: 50%;
    color: var(--quiet);
  }
  .desk {
    flex: 1;
    min-height: 0;
    display: flex;
    flex-direction: column;
  }
  .columns {
    flex: 1;
    min-height: 0;
    display: flex;
  }
  .left,
  .middle,
  .right,
  .dock {
    display: flex;
    flex-direction: column;
    min-height: 0;
    min-width: 0;
  }
  .left {
    flex: none;
    width: var(--left, clamp(170px, 19vw, 250px));
    border-right: 1px solid var(--line);
  }
  .middle {
    flex: 1;
  }
  .right {
    flex: none;
    width: var(--right, clamp(220px, 25vw, 340px));
    border-left: 1px solid var(--line);
  }
  .left,
  .right {
    max-width: 42%;
  }
  section {
    display: flex;
    flex-direction: column;
    min-height: 0;
    min-width: 0;
  }
  .body {
    display: flex;
    flex-direction: column;
    flex: 1;
    min-height: 0;
  }
  .body > *,
  .source > * {
    flex: 1;
    min-height: 0;
  }
  h2 {
    display: flex;
    flex: none;
    margin: 0;
    font-size: 0.78rem;
    font-weight: 600;
    letter-spacing: 0.03em;
  }
  h2 button {
    flex: 1;
    padding: 0.25rem 0.8rem 0.25rem 0.4rem;
    border-radius: 0;
    text-align: left;
    color: var(--quiet);
  }
  h2 button:hover {
    background: var(--raised);
  }
  .mark {
    display: inline-block;
    width: 1.1em;
  }
  .source {
    flex: 1;
  }
  .stack,
  .variables {
    flex: 1 1 0;
  }
  .breakpoints,
  .watches,
  .timeline,
  .dock {
    flex: none;
    border-top: 1px solid var(--line);
  }
  .breakpoints {
    height: var(--breakpoints, 150px);
  }
  .breakpoints .body {
    overflow-y: auto;
  }
  .watches {
    height: var(--watches, 130px);
  }
  .timeline {
    height: var(--timeline, clamp(8rem, 27vh, 17rem));
    max-height: 60%;
  }
  .dock {
    height: var(--dock, 30%);
    max-height: 75%;
  }
  .dock section {
    flex: 1;
  }
  .tabs {
    display: flex;
    flex: none;
    gap: 0.2rem;
    padding: 0 0.4rem;
  }
  .tabs button {
    padding: 0.25rem 0.6rem 0.2rem;
    border: 0;
    border-bottom: 2px solid transparent;
    border-radius: 0;
    font-size: 0.78rem;
    font-weight: 600;
    letter-spacing: 0.03em;
    color: var(--quiet);
  }
  .tabs [aria-selected="true"] {
    color: var(--ink);
    border-bottom-color: var(--accent);
  }
  .panes {
    display: none;
  }
  @media (max-width: 75rem) {
    .word {
      display: none;
    }
  }
  @media (min-width: 60.01rem) {
    .folded {
      flex: none;
      height: auto;
    }
    .folded .body,
    .behind,
    .idle {
      display: none;
    }
    /* What is left of the column goes to the first part that is open. */
    .variables.folded ~ .watches:not(.folded),
    .stack.folded ~ .breakpoints:not(.folded) {
      flex: 1;
      height: auto;
    }
  }
  @media (max-width: 60rem) {
    .desk {
      overflow-y: auto;
    }
    .columns,
    .left,
    .middle,
    .right,
    .dock {
      display: contents;
    }
    .source {
      order: 0;
      flex: 1 1 0;
      min-height: 6rem;
    }
    .panes {
      order: 1;
      display: flex;
      flex: none;
      overflow-x: auto;
      scrollbar-width: none;
      padding: 0.1rem 0.3rem;
      border-top: 1px solid var(--line);
      border-bottom: 1px solid var(--line);
    }
    .panes button {
      flex: none;
      padding: 0.2rem 0.45rem;
      font-size: 0.85rem;
      border-radius: 0;
      color: var(--quiet);
    }
    .panes [aria-pressed="true"] {
      color: var(--accent);
      box-shadow: inset 0 -2px var(--accent);
    }
    .desk section:not(.source) {
      order: 2;
      flex: 1 1 0;
      height: auto;
      min-height: 5rem;
      border-top: 0;
    }
    h2,
    .tabs,
    dragoman-splitter,
    .desk section.away {
      display: none;
    }
    #standing {
      text-align: left;
    }
  }
  @media (max-width: 40rem) {
    .bar {
      padding: 0.35rem 0.5rem;
      gap: 0.35rem;
    }
    #keys {
      display: none;
    }
    #standing {
      order: 3;
      flex-basis: 100%;
      border-top: 1px solid var(--line);
    }
  }
`;
