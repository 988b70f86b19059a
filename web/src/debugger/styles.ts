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
    margin: 0 0 0 auto;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    max-width: 100%;
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
  .desk {
    flex: 1;
    min-height: 0;
    display: grid;
    grid-template-columns: minmax(12rem, 17rem) minmax(0, 1fr) minmax(15rem, 24rem);
  }
  .left,
  .middle,
  .right {
    display: flex;
    flex-direction: column;
    min-height: 0;
    min-width: 0;
  }
  .left {
    overflow-y: auto;
    border-right: 1px solid var(--line);
  }
  .right {
    border-left: 1px solid var(--line);
  }
  section {
    display: flex;
    flex-direction: column;
    min-height: 0;
    border-bottom: 1px solid var(--line);
  }
  .left section {
    flex: none;
    padding-bottom: 0.4rem;
  }
  h2 {
    margin: 0;
    padding: 0.3rem 0.8rem;
    font-size: 0.78rem;
    font-weight: 600;
    letter-spacing: 0.03em;
    color: var(--quiet);
    flex: none;
  }
  section > :not(h2) {
    flex: 1;
  }
  .source {
    flex: 3;
  }
  .output {
    flex: 1;
    min-height: 7rem;
    border-bottom: 0;
  }
  .variables {
    flex: 4;
  }
  .watches {
    flex: 2;
  }
  .timeline {
    flex: 3;
    border-bottom: 0;
  }
  @media (max-width: 75rem) {
    .word {
      display: none;
    }
  }
  .panes {
    display: none;
  }
  @media (max-width: 60rem) {
    .desk {
      display: flex;
      flex-direction: column;
      overflow-y: auto;
    }
    .left,
    .middle,
    .right {
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
      flex-wrap: wrap;
      flex: none;
      padding: 0.1rem 0.3rem;
      border-bottom: 1px solid var(--line);
    }
    .panes button {
      padding: 0.2rem 0.45rem;
      font-size: 0.85rem;
      border-radius: 0;
      color: var(--quiet);
    }
    .panes [aria-pressed="true"] {
      color: var(--accent);
      box-shadow: inset 0 -2px var(--accent);
    }
    section:not(.source),
    .left section:not(.source) {
      order: 2;
      flex: 1 1 0;
      min-height: 5rem;
      overflow-y: auto;
    }
    section:not(.source) h2,
    .away {
      display: none;
    }
    #standing {
      margin-left: 0;
    }
  }
`;
