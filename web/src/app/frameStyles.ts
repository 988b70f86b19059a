import { css } from "lit";

export const frameStyles = css`
  /* What is hidden for the eye stands somewhere all the same: nothing of it may make the page itself scroll. */
  :host {
    display: flex;
    flex-direction: column;
    height: 100dvh;
    position: relative;
    overflow: clip;
  }
  header {
    display: flex;
    flex-wrap: wrap;
    align-items: stretch;
    gap: 0 1.25rem;
    padding: 0 1rem;
    border-bottom: 1px solid var(--line);
    background: var(--card);
  }
  h1 {
    display: flex;
    align-items: center;
    gap: 0.55rem;
    font-size: 1.05rem;
    margin: 0;
  }
  .tabs {
    display: flex;
    gap: 0.1rem;
    overflow-x: auto;
    scrollbar-width: none;
  }
  [role="tab"] {
    position: relative;
    display: flex;
    align-items: center;
    gap: 0.35rem;
    border: 0;
    border-bottom: 3px solid transparent;
    border-radius: 0;
    padding: 0.75rem 0.75rem 0.6rem;
    color: var(--quiet);
    white-space: nowrap;
  }
  [role="tab"] .icon {
    display: none;
  }
  [role="tab"]:hover:not([aria-selected="true"]) {
    color: inherit;
    border-color: transparent transparent var(--line);
  }
  [role="tab"]:focus-visible {
    outline-offset: -2px;
  } /* what scrolls would cut it off */
  [role="tab"][aria-selected="true"] {
    color: var(--accent);
    border-bottom-color: var(--accent);
    font-weight: 600;
  }
  .asks {
    background: var(--warn);
    color: var(--card);
    border-radius: 1rem;
    padding: 0 0.45em;
    font-size: 0.8em;
  }
  #connection {
    align-self: center;
    margin: 0.3rem 0 0.3rem auto;
    padding: 0.05rem 0.7rem;
    border-radius: 1rem;
    font-size: 0.9rem;
    color: var(--quiet);
  }
  #connection.good {
    color: var(--good);
  }
  #connection.good::before {
    content: "●";
    margin-right: 0.45em;
    font-size: 0.72rem;
  }
  #connection.bad {
    color: var(--bad);
    background: var(--bad-card);
  }
  .trouble {
    display: flex;
    justify-content: space-between;
    align-items: center;
    margin: 0;
    padding: 0.3rem 1rem;
    background: var(--bad-card);
    color: var(--bad);
    overflow-wrap: anywhere;
  }
  .paused {
    display: flex;
    flex-wrap: wrap;
    justify-content: space-between;
    align-items: center;
    gap: 0.2rem 1rem;
    margin: 0;
    padding: 0.3rem 1rem;
    background: var(--bad);
    color: var(--card);
    overflow-wrap: anywhere;
  }
  .paused button {
    color: var(--bad);
  }
  dragoman-stop-all {
    align-self: center;
  }
  .trouble button {
    flex: none;
  }
  code {
    font: 0.92em var(--mono);
  }
  main,
  section {
    flex: 1;
    min-height: 0;
    display: flex;
    flex-direction: column;
  }
  section {
    position: relative;
  }
  section > * {
    flex: 1;
    min-height: 0;
  }
  @media (max-width: 75rem) {
    header {
      gap: 0 0.6rem;
    }
    [role="tab"] {
      padding-inline: 0.6rem;
      font-size: 0.94rem;
    }
    /* The dot says it; the word stays for who cannot see it. */
    #connection.good {
      font-size: 0;
      padding-inline: 0.2rem;
    }
  }
  @media (max-width: 64rem) {
    h1 span {
      display: none;
    }
  }
  @media (max-width: 48rem) {
    header {
      padding: 0.1rem 0.6rem 0;
      gap: 0.1rem 0.4rem;
    }
    h1 {
      font-size: 1rem;
    }
    h1 img {
      width: 22px;
      height: 22px;
    }
    h1 span {
      display: inline;
    }
    #connection {
      order: 1;
      margin: 0 0 0 auto;
    }
    dragoman-stop-all {
      order: 1;
    }
    .tabs {
      order: 2;
      width: 100%;
      justify-content: space-between;
      gap: 0;
    }
    [role="tab"] {
      padding: 0.1rem 0.25rem;
      border-bottom-width: 2px;
      font-size: 0.82rem;
      line-height: 1.3;
    }
    [role="tab"] .icon {
      display: block;
    }
    /* Only where the person is stands in words: all names together are wider than a phone. */
    [role="tab"]:not([aria-selected="true"]) .label {
      position: absolute;
      width: 1px;
      height: 1px;
      overflow: hidden;
      clip-path: inset(50%);
    }
    #connection.bad {
      width: 100%;
      margin: 0.2rem 0;
      border-radius: 0.5rem;
    }
  }
`;
