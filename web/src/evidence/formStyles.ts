import { css } from "lit";

export const formStyles = css`
  form {
    display: flex;
    flex-direction: column;
    gap: 0.7rem;
  }
  .questions {
    display: grid;
    grid-template-columns: repeat(3, minmax(0, 1fr));
    gap: 0.5rem;
  }
  .choice {
    display: flex;
    flex-direction: column;
    border: 1px solid var(--line);
    border-radius: 0.5rem;
    background: var(--card);
    padding: 0.5rem 0.8rem 0.6rem;
    cursor: pointer;
    position: relative;
  }
  .choice:hover {
    border-color: var(--accent);
  }
  .choice.chosen {
    border-color: var(--accent);
    box-shadow: inset 3px 0 var(--accent);
  }
  .choice.chosen b {
    color: var(--accent);
  }
  .choice input {
    position: absolute;
    opacity: 0;
    inset: 0;
    width: 100%;
    height: 100%;
    margin: 0;
    cursor: pointer;
  }
  .choice:focus-within {
    outline: 2px solid var(--accent);
    outline-offset: 1px;
  }
  .about {
    color: var(--quiet);
    font-size: 0.82rem;
    line-height: 1.35;
  }
  .fields {
    display: flex;
    flex-direction: column;
    gap: 0.8rem;
    border: 1px solid var(--line);
    border-radius: 0.5rem;
    background: var(--card);
    padding: 0.9rem;
  }
  .label {
    display: block;
    font-size: 0.82rem;
    font-weight: 600;
    margin-bottom: 0.15rem;
  }
  .label .quiet {
    font-weight: 400;
  }
  .field {
    display: block;
    min-width: 0;
  }
  .field input,
  .field select {
    width: 100%;
    min-height: 2.1rem;
  }
  .target {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4rem;
    align-items: end;
  }
  .target .kind {
    flex: 0 1 13rem;
  }
  .target .subject {
    flex: 1 1 16rem;
    min-width: 0;
    overflow-wrap: anywhere;
  }
  code.subject {
    font: 0.9rem var(--mono);
    padding: 0.4rem 0.6rem;
    background: var(--raised);
    border-radius: 0.4rem;
  }
  fieldset {
    border: 0;
    margin: 0;
    padding: 0;
    min-width: 0;
  }
  .point {
    display: grid;
    grid-template-columns: minmax(0, 3fr) minmax(0, 4fr) minmax(0, 2fr) auto;
    gap: 0.4rem;
    align-items: end;
    margin-bottom: 0.4rem;
  }
  .remove {
    padding: 0.3rem 0.6rem;
    color: var(--quiet);
  }
  .add {
    color: var(--accent);
    padding-left: 0.2rem;
  }
  .limits {
    display: flex;
    flex-wrap: wrap;
    gap: 0.6rem 1.4rem;
  }
  .number {
    display: flex;
    gap: 0.5rem;
    align-items: baseline;
  }
  .number .label {
    font-weight: 400;
    color: var(--quiet);
  }
  .number input {
    width: 5.2rem;
    padding: 0.1rem 0.4rem;
  }
  .end {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4rem 0.9rem;
    align-items: center;
  }
  .small {
    font-size: 0.82rem;
  }
  @media (max-width: 40rem) {
    .point {
      grid-template-columns: minmax(0, 1fr);
      border-bottom: 1px solid var(--line);
      padding-bottom: 0.5rem;
    }
    .questions {
      grid-template-columns: repeat(2, minmax(0, 1fr));
      gap: 0.35rem;
      grid-auto-flow: dense;
    }
    .choice {
      padding: 0.35rem 0.6rem;
      font-size: 0.92rem;
    }
    .choice:not(.chosen) .about {
      display: none;
    }
    .choice.chosen {
      grid-column: 1 / -1;
    }
  }
`;
