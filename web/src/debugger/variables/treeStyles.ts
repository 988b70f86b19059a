import { css } from "lit";

export const treeStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
  }
  dragoman-rows {
    flex: 1;
    min-height: 0;
  }
  .line {
    display: flex;
  }
  .row {
    display: flex;
    align-items: center;
    gap: 0.4rem;
    flex: 1;
    min-width: 0;
    height: 24px;
    padding: 0 0.4rem;
    border: 0;
    border-radius: 0;
    font: 0.82rem/1.2 var(--mono);
    text-align: left;
    white-space: nowrap;
  }
  .row:hover {
    background: var(--raised);
  }
  .mark {
    width: 0.8em;
    flex: none;
    color: var(--quiet);
  }
  .name {
    flex: none;
    max-width: 55%;
    overflow: hidden;
    text-overflow: ellipsis;
    color: var(--accent);
  }
  .value {
    flex: 0 1 auto;
    min-width: 0;
    padding: 0 0.2rem;
    border-radius: 0.2rem;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .changed {
    background: var(--marked);
    animation: flash 1.1s ease-out;
  }
  @keyframes flash {
    from {
      background: var(--warn);
      color: var(--card);
    }
  }
  @media (prefers-reduced-motion: reduce) {
    .changed {
      animation: none;
    }
  }
  .was {
    flex: 0 2 auto;
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    color: var(--quiet);
    font: italic 0.78rem var(--text);
  }
  .edit {
    flex: 1;
    min-width: 0;
    height: 22px;
    margin: 1px 0;
    padding: 0 0.3rem;
    font: 0.82rem/1.2 var(--mono);
  }
  .editing {
    display: flex;
    flex: 1;
    align-items: center;
    gap: 0.4rem;
    min-width: 0;
    height: 24px;
    font: 0.82rem/1.2 var(--mono);
  }
  .forget,
  .whole {
    padding: 0 0.5rem;
    height: 24px;
    line-height: 1;
    color: var(--quiet);
  }
  .refused {
    margin: 0;
    padding: 0.25rem 0.6rem;
    background: var(--bad-card);
    color: var(--bad);
    font-size: 0.82rem;
    overflow-wrap: anywhere;
  }
  .reading {
    flex: none;
    display: flex;
    flex-direction: column;
    max-height: 45%;
    border-top: 1px solid var(--line);
  }
  .reading header {
    display: flex;
    align-items: center;
    justify-content: space-between;
    padding: 0 0.2rem 0 0.6rem;
    color: var(--accent);
    font: 0.8rem var(--mono);
  }
  .reading pre {
    margin: 0;
    padding: 0.2rem 0.6rem 0.5rem;
    overflow: auto;
    font: 0.82rem/1.4 var(--mono);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
`;
