import { css } from "lit";

export const formStyles = css`
  #form {
    position: fixed;
    inset: auto;
    margin: 0;
    width: min(340px, calc(100vw - 16px));
    max-height: calc(100vh - 16px);
    overflow: auto;
    padding: 0;
    border: 1px solid var(--line);
    border-radius: 0.5rem;
    background: var(--card);
    color: var(--ink);
    font-size: 0.88rem;
    box-shadow: 0 8px 28px #0005;
  }
  header,
  .head,
  footer {
    display: flex;
    align-items: center;
    gap: 0.5rem;
  }
  header {
    justify-content: space-between;
    padding: 0.3rem 0.3rem 0.3rem 0.8rem;
    background: var(--raised);
  }
  header strong {
    overflow: hidden;
    text-overflow: ellipsis;
    font-size: 0.85rem;
  }
  form {
    display: flex;
    flex-direction: column;
    gap: 0.5rem;
    padding: 0.6rem 0.8rem;
  }
  form + form {
    border-top: 1px solid var(--line);
  }
  .grow {
    flex: 1;
  }
  label {
    display: flex;
    flex-direction: column;
    gap: 0.15rem;
    color: var(--quiet);
    font-size: 0.82rem;
  }
  label input {
    color: var(--ink);
    font-size: 0.85rem;
  }
  input[readonly] {
    background: var(--raised);
  }
  input::placeholder {
    color: var(--quiet);
    opacity: 0.8;
  }
  .switch {
    flex-direction: row;
    align-items: center;
    gap: 0.35rem;
  }
  p {
    margin: 0;
    font-size: 0.82rem;
    overflow-wrap: anywhere;
  }
  p.bad {
    padding: 0 0.8rem 0.6rem;
  }
`;
