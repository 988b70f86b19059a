import { css } from "lit";

export const trackStyles = css`
  :host {
    --actor-0: light-dark(#8a5a00, #e0b354);
    --actor-1: light-dark(#0b6e69, #63c8be);
    --actor-2: light-dark(#6b3fa0, #c4a1f0);
    --actor-3: light-dark(#1f5fa8, #7db4f0);
    --actor-4: light-dark(#a0356f, #f097c4);
    --actor-5: light-dark(#3f7320, #a3d079);
    --actor-6: light-dark(#8c4a2f, #e5a585);
    --actor-7: light-dark(#4a5568, #b3bccb);
    display: flex;
    min-width: 0;
    container-type: inline-size;
  }
  .lanes {
    flex: none;
    width: 9rem;
    padding-top: 20px;
    border-right: 1px solid var(--line);
    font-size: 0.8rem;
  }
  .lane {
    display: flex;
    align-items: center;
    gap: 0.4rem;
    height: 26px;
    padding: 0 0.5rem;
  }
  .lane span {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .swatch {
    flex: none;
    width: 0.6rem;
    height: 0.6rem;
    border-radius: 0.15rem;
    background: currentColor;
  }
  .plane {
    flex: 1;
    min-width: 0;
    position: relative;
    cursor: ew-resize;
    touch-action: none;
  }
  .plane:focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: -2px;
  }
  canvas {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
  }
  .hint {
    position: absolute;
    z-index: 1;
    top: 22px;
    max-width: 22rem;
    padding: 0.15rem 0.5rem;
    border: 1px solid var(--line);
    border-radius: 0.3rem;
    background: var(--card);
    font-size: 0.78rem;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    pointer-events: none;
    box-shadow: 0 2px 6px rgb(0 0 0 / 0.18);
  }
  .window {
    position: absolute;
    bottom: 0;
    height: 3px;
    border-radius: 2px;
    background: var(--accent);
    opacity: 0.7;
    pointer-events: none;
  }
  @container (max-width: 34rem) {
    .lanes {
      width: 5rem;
    }
    .lane {
      padding: 0 0.3rem;
    }
  }
`;
