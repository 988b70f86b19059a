import { css } from "lit";

export const listStyles = css`
  :host {
    display: block;
    font-size: 0.85rem;
  }
  .tools {
    display: flex;
    padding: 0.1rem 0.5rem 0.2rem;
  }
  .tools button {
    padding: 0 0.4rem;
    font-size: 0.78rem;
    color: var(--quiet);
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
  }
  li,
  .exceptions label {
    display: flex;
    align-items: center;
    padding-left: 0.8rem;
  }
  .exceptions label {
    gap: 0.5rem;
    min-height: 24px;
  }
  li:hover {
    background: var(--raised);
  }
  .item {
    display: flex;
    align-items: center;
    gap: 0.5rem;
    flex: 1;
    min-width: 0;
    min-height: 26px;
    padding: 0.1rem 0.3rem 0.1rem 0.5rem;
    border: 0;
    border-radius: 0;
    text-align: left;
  }
  .grow {
    flex: 1;
    min-width: 0;
  }
  .name,
  .more {
    display: block;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .name {
    font-size: 0.82rem;
  }
  .more {
    color: var(--quiet);
    font-size: 0.76rem;
  }
  .small {
    padding: 0 0.35rem;
    color: var(--quiet);
  }
  form {
    display: flex;
    flex-wrap: wrap;
    gap: 0.3rem;
    padding: 0.2rem 0.8rem 0.4rem;
  }
  form label:first-child {
    flex-basis: 100%;
  }
  form input,
  form select {
    width: 100%;
  }
  form input,
  form select,
  form button {
    padding: 0.1rem 0.4rem;
    font-size: 0.82rem;
  }
  form p {
    margin: 0;
    flex-basis: 100%;
  }
`;
