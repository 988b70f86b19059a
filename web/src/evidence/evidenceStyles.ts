import { css } from "lit";
import { resultStyles } from "./results/styles";

export const evidenceStyles = [
  resultStyles,
  css`
    :host {
      display: grid;
      grid-template-columns: minmax(12rem, 17rem) minmax(0, 1fr);
      min-height: 0;
    }
    nav {
      overflow-y: auto;
      border-right: 1px solid var(--line);
      min-height: 0;
    }
    .top {
      padding: 0.6rem 0.8rem;
    }
    #new {
      width: 100%;
    }
    #new.chosen {
      border-color: var(--accent);
      color: var(--accent);
    }
    .opener {
      display: none;
    }
    nav .item {
      display: block;
      width: 100%;
      text-align: left;
      border-radius: 0;
      border: 0;
      border-top: 1px solid var(--line);
      padding: 0.4rem 0.8rem;
      font-size: 0.88rem;
      line-height: 1.4;
    }
    .item:hover,
    .item.chosen {
      background: var(--raised);
    }
    .item.chosen {
      box-shadow: inset 3px 0 var(--accent);
    }
    .item .row {
      display: flex;
      justify-content: space-between;
      gap: 0.5rem;
    }
    time {
      color: var(--quiet);
      font-size: 0.78rem;
    }
    .subject,
    .item .verdict {
      display: block;
      overflow: hidden;
      text-overflow: ellipsis;
      white-space: nowrap;
    }
    .item .subject {
      color: var(--quiet);
      font-size: 0.8rem;
    }
    .item .verdict {
      font-size: 0.82rem;
    }
    .verdict.bad {
      color: var(--bad);
    }
    .none {
      color: var(--quiet);
      padding: 0.4rem 0.8rem;
      font-size: 0.9rem;
    }
    .main {
      overflow-y: auto;
      min-height: 0;
      padding: 0.9rem 1.2rem 2rem;
    }
    .main.fills {
      display: flex;
      flex-direction: column;
      padding-bottom: 0.6rem;
    }
    .fills dragoman-trace-table {
      flex: 1;
      min-height: 26rem;
    }
    h2 {
      font-size: 1.15rem;
      margin: 0;
    }
    .start {
      max-width: 60rem;
    }
    .lead {
      margin: 0.2rem 0 0.9rem;
    }
    .offer {
      display: flex;
      flex-wrap: wrap;
      gap: 0.4rem 1rem;
      align-items: center;
      justify-content: space-between;
      border: 1px solid var(--line);
      border-left: 3px solid var(--bad);
      border-radius: 0.5rem;
      background: var(--card);
      padding: 0.6rem 0.9rem;
      margin-bottom: 1rem;
    }
    .offer .what {
      display: flex;
      flex-direction: column;
      min-width: 0;
      flex: 1 1 14rem;
    }
    .offer code {
      font: 0.92rem/1.4 var(--mono);
      overflow-wrap: anywhere;
    }
    .heading {
      display: flex;
      flex-wrap: wrap;
      justify-content: space-between;
      gap: 0.2rem 1rem;
      align-items: center;
      margin-bottom: 0.8rem;
    }
    .heading > p {
      flex: 1 0 100%;
      margin: 0;
      min-width: 0;
      overflow-wrap: anywhere;
    }
    .heading .about {
      color: var(--quiet);
    }
    .heading .verdict {
      font-weight: 600;
      display: -webkit-box;
      -webkit-box-orient: vertical;
      -webkit-line-clamp: 1;
      overflow: hidden;
    }
    .verdict .quiet {
      font-weight: 400;
    }
    .actions {
      display: flex;
      flex-wrap: wrap;
      gap: 0.35rem;
      align-items: center;
    }
    .running,
    .problem {
      padding: 0.9rem 1.1rem;
    }
    #elapsed {
      font-variant-numeric: tabular-nums;
    }
    progress {
      width: 100%;
      max-width: 26rem;
      accent-color: var(--accent);
    }
    .would-run,
    .text {
      font: 0.85rem/1.5 var(--mono);
      white-space: pre-wrap;
      overflow-wrap: anywhere;
      background: var(--paper);
      padding: 0.5rem 0.8rem;
      border-radius: 0.4rem;
      max-height: 14rem;
      overflow: auto;
      margin: 0.3rem 0 0.6rem;
    }
    .text {
      max-height: none;
      margin: 0;
      background: none;
    }
    @media (max-width: 60rem) {
      :host {
        grid-template: auto minmax(0, 1fr) / minmax(0, 1fr);
      }
      nav {
        border-right: 0;
        border-bottom: 1px solid var(--line);
        max-height: 55vh;
      }
      .top {
        display: flex;
        justify-content: space-between;
        padding: 0.35rem 0.8rem;
      }
      #new {
        width: auto;
      }
      .opener {
        display: block;
      }
      nav:not(.open) > :not(.top) {
        display: none;
      }
      .main {
        padding: 0.7rem 0.8rem 2rem;
      }
      .main.fills {
        display: block;
      }
      .heading .actions {
        order: 1;
      }
    }
  `,
];
