import { css } from "lit";

/** What every pane looks like: rows that can be pressed, and a sentence where there is nothing. */
export const paneStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
  }
  ul {
    list-style: none;
    margin: 0;
    padding: 0;
  }
  .none {
    margin: 0;
    padding: 0 0.8rem 0.3rem;
    color: var(--quiet);
    font-size: 0.88rem;
  }
  .item {
    display: flex;
    align-items: center;
    gap: 0.6rem;
    width: 100%;
    min-height: 26px;
    padding: 0 0.8rem;
    border: 0;
    border-radius: 0;
    text-align: left;
    font-size: 0.85rem;
    white-space: nowrap;
  }
  .item.mono {
    font-size: 0.82rem;
  }
  .item:disabled {
    opacity: 1;
  }
  .item:hover:not(:disabled),
  .item.chosen {
    background: var(--raised);
  }
  .item.chosen {
    box-shadow: inset 3px 0 var(--accent);
  }
  .grow {
    flex: 1;
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .item .quiet {
    flex: none;
    max-width: 50%;
    overflow: hidden;
    text-overflow: ellipsis;
    font-size: 0.8rem;
  }
`;
