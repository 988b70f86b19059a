import { css } from "lit";

export const timelineStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
    min-width: 0;
    container-type: inline-size;
    background: var(--card);
  }
  .tools {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.15rem 0.6rem;
    padding: 0.2rem 0.6rem;
    border-bottom: 1px solid var(--line);
    font-size: 0.82rem;
    flex: none;
  }
  .group {
    display: flex;
    align-items: center;
    gap: 0.1rem;
  }
  .tools button,
  .tools select {
    min-height: 26px;
    min-width: 26px;
    padding: 0.1rem 0.4rem;
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: 0.35rem;
    white-space: nowrap;
  }
  .tools select {
    padding: 0.1rem 0.2rem;
  }
  .tools button[aria-pressed="true"] {
    color: var(--accent);
    background: var(--raised);
  }
  .tools .now {
    border-color: var(--accent);
    color: var(--accent);
  }
  .find {
    width: 9rem;
    min-height: 26px;
    padding: 0.05rem 0.5rem;
  }
  .about {
    flex: 1 1 10rem;
    min-width: 0;
    margin: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    color: var(--quiet);
  }
  .about strong {
    color: var(--ink);
    font-weight: 600;
  }
  .parts {
    flex: 1;
    min-height: 0;
    display: flex;
    flex-direction: column;
  }
  dragoman-track {
    flex: none;
    max-height: 55%;
    overflow: hidden auto;
    border-bottom: 1px solid var(--line);
  }
  dragoman-rows,
  dragoman-value-series {
    flex: 1;
    min-height: 0;
  }
  .empty {
    margin: 0;
    padding: 1.2rem 1rem;
    font-size: 0.88rem;
    flex: none;
  }
  .item {
    display: flex;
    align-items: center;
    gap: 0.5rem;
    width: 100%;
    height: 26px;
    padding: 0 0.6rem;
    border: 0;
    border-radius: 0;
    text-align: left;
    font-size: 0.83rem;
    white-space: nowrap;
  }
  .item:hover,
  .item.chosen {
    background: var(--raised);
  }
  .item.chosen {
    box-shadow: inset 3px 0 var(--accent);
  }
  .item.inside {
    padding-left: 2rem;
  }
  .item time {
    flex: none;
    color: var(--quiet);
    font: 0.78rem var(--mono);
  }
  .item .what {
    flex: 0 1 auto;
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .item.stop .what {
    color: var(--warn);
  }
  .item.wrong .what {
    color: var(--bad);
    font-weight: 600;
  }
  .item .detail {
    flex: 1;
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    color: var(--quiet);
    font: 0.8rem var(--mono);
  }
  .item .where {
    flex: none;
    max-width: 40%;
    overflow: hidden;
    text-overflow: ellipsis;
    color: var(--quiet);
    font: 0.78rem var(--mono);
  }
  .fold-mark {
    flex: none;
    width: 0.8em;
    color: var(--quiet);
  }
  @container (min-width: 54rem) {
    .parts {
      flex-direction: row;
    }
    dragoman-track {
      flex: 1;
      max-height: none;
      border-bottom: 0;
      border-right: 1px solid var(--line);
    }
    .side {
      flex: none;
      width: min(42%, 34rem);
      display: flex;
      flex-direction: column;
      min-height: 0;
    }
  }
  @container (max-width: 54rem) {
    .side {
      flex: 1;
      min-height: 0;
      display: flex;
      flex-direction: column;
    }
  }
  @container (max-width: 34rem) {
    .word,
    .find {
      display: none;
    }
    .about {
      order: 9;
      flex-basis: 100%;
    }
  }
`;
