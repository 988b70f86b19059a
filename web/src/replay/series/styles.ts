import { css } from "lit";

export const seriesStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
    background: var(--card);
    font-size: 0.83rem;
  }
  form {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.3rem 0.5rem;
    padding: 0.25rem 0.6rem;
    border-bottom: 1px solid var(--line);
    flex: none;
  }
  form button,
  form input {
    min-height: 26px;
    padding: 0.05rem 0.5rem;
  }
  input {
    width: 8rem;
    font-family: var(--mono);
    font-size: 0.82rem;
  }
  .title {
    font: 600 0.85rem var(--mono);
    overflow: hidden;
    text-overflow: ellipsis;
    max-width: 100%;
  }
  .grow {
    flex: 1;
  }
  .chart {
    position: relative;
    flex: none;
    height: 84px;
    margin: 0.3rem 0.6rem;
    background: var(--paper);
    border: 1px solid var(--line);
    border-radius: 0.3rem;
  }
  .chart svg {
    width: 100%;
    height: 100%;
    cursor: pointer;
    display: block;
  }
  .high,
  .low {
    position: absolute;
    left: 0.3rem;
    font: 0.72rem var(--mono);
    color: var(--quiet);
    pointer-events: none;
  }
  .high {
    top: 0;
  }
  .low {
    bottom: 0;
  }
  .curve {
    fill: none;
    stroke: var(--accent);
    stroke-width: 1.5;
  }
  .base {
    stroke: var(--line);
    stroke-width: 1;
  }
  .blocks {
    fill: var(--accent);
    opacity: 0.65;
  }
  .shown {
    stroke: var(--bad);
    stroke-width: 1.5;
  }
  dragoman-rows {
    flex: 1;
    min-height: 0;
  }
  .row {
    display: grid;
    align-items: center;
    gap: 0.6rem;
    width: 100%;
    height: 26px;
    padding: 0 0.6rem;
    border: 0;
    border-radius: 0;
    text-align: left;
    font: 0.82rem var(--mono);
    white-space: nowrap;
  }
  .row > * {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .row:hover,
  .row.chosen {
    background: var(--raised);
  }
  .row.chosen {
    box-shadow: inset 3px 0 var(--accent);
  }
  .variable {
    grid-template-columns: minmax(5rem, 1.2fr) 7.5rem minmax(3rem, 1fr) auto;
  }
  .point {
    grid-template-columns: 3.5rem minmax(6rem, 10rem) 1fr auto;
  }
  .name {
    color: var(--accent);
  }
  .constant .name {
    color: var(--quiet);
  }
  .spark {
    width: 7.5rem;
    height: 18px;
  }
  .changed {
    background: var(--marked);
    border-radius: 0.2rem;
    padding: 0 0.25rem;
  }
  .delta {
    color: var(--quiet);
  }
  .empty {
    margin: 0;
    padding: 1.2rem 1rem;
  }
`;
