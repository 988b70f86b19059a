import { css } from "lit";

export const settingsStyles = css`
  :host {
    display: block;
    min-height: 0;
  }
  .all {
    display: grid;
    grid-template-columns: minmax(0, 13rem) minmax(0, 54rem);
    justify-content: center;
    gap: 0 1.5rem;
    height: 100%;
    overflow: auto;
    padding: 1rem 1rem 3rem;
  }
  .index {
    position: sticky;
    top: 0;
    align-self: start;
  }
  #search {
    width: 100%;
  }
  .index ul {
    list-style: none;
    margin: 0.8rem 0 0;
    padding: 0;
  }
  .index li button {
    width: 100%;
    text-align: left;
    color: var(--quiet);
  }
  .index li button:hover {
    color: var(--ink);
    background: var(--raised);
  }
  .none {
    padding: 2rem 1rem;
    text-align: center;
    color: var(--quiet);
  }
  section {
    margin: 0 0 1rem;
    padding: 0.6rem 1rem 0.8rem;
    background: var(--card);
    border: 1px solid var(--line);
    border-radius: 0.6rem;
  }
  h2 {
    margin: 0.1rem 0 0.5rem;
    font-size: 1.05rem;
  }
  p {
    margin: 0.3rem 0;
    overflow-wrap: anywhere;
  }
  dl {
    display: grid;
    grid-template-columns: max-content minmax(0, 1fr);
    gap: 0.15rem 1.2rem;
    margin: 0;
  }
  dt {
    color: var(--quiet);
  }
  dd {
    margin: 0;
    overflow-wrap: anywhere;
  }
  .line {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4rem 1rem;
    align-items: center;
  }
  .line + .line {
    margin-top: 0.5rem;
  }
  .banner {
    background: var(--marked);
    border: 1px solid var(--line);
    border-radius: 0.5rem;
    padding: 0.5rem 0.9rem;
    margin-bottom: 0.8rem;
  }
  .waits {
    color: var(--warn);
  }
  .standing {
    padding-bottom: 0.6rem;
  }
  p code {
    font: 0.92em var(--mono);
  }
  #gateway-state {
    font-weight: 600;
  }
  #gateway-state.connected {
    color: var(--good);
  }
  #gateway-state.error,
  #gateway-state.pairing_required {
    color: var(--bad);
  }
  @media (max-width: 52rem) {
    .all {
      grid-template-columns: minmax(0, 1fr);
    }
    .index {
      position: static;
      margin-bottom: 0.8rem;
    }
    .index ul {
      display: flex;
      flex-wrap: wrap;
      gap: 0.1rem;
      margin-top: 0.4rem;
    }
    .index li button {
      padding: 0.2rem 0.5rem;
      font-size: 0.88rem;
    }
  }
`;
