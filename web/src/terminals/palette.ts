import { css } from "lit";

/** The sixteen colours that programs name, so that each can be read on the ground it stands on. */
export const palette = css`
  :host {
    --k0: #14181e;
    --k7: #eceae4;
    --k8: #59616d;
    --k15: #ffffff;
    --ground: #fdfcf9;
    --glyph: #1c2430;
    --g7: #d8d5cc;
    --g15: #ffffff;
    --c0: #1c2430;
    --c1: #a8261b;
    --c2: #1c7031;
    --c3: #835c00;
    --c4: #1f55b5;
    --c5: #8a3a94;
    --c6: #0b6e76;
    --c7: #5d6470;
    --c8: #59616d;
    --c9: #c03a2b;
    --c10: #2a7d3f;
    --c11: #8a6500;
    --c12: #2f66cc;
    --c13: #9c4aa6;
    --c14: #147f88;
    --c15: #353c47;
  }
  @media (prefers-color-scheme: dark) {
    :host {
      --ground: #12151a;
      --glyph: #e2dfd7;
      --g0: #2a303a;
      --g8: #444c58;
      --g1: #8f2a22;
      --g2: #1c6a30;
      --g3: #7a5800;
      --g4: #1f4f9f;
      --g5: #7d3687;
      --g6: #0b636a;
      --c0: #6f7885;
      --c1: #f0766a;
      --c2: #74c98a;
      --c3: #dcb65a;
      --c4: #7aa7f5;
      --c5: #d28bdb;
      --c6: #5fc6cf;
      --c7: #d3d0c8;
      --c8: #8b94a1;
      --c9: #ff9488;
      --c10: #93dfa7;
      --c11: #efcf7d;
      --c12: #9cc0ff;
      --c13: #e5aaec;
      --c14: #85dde5;
      --c15: #ffffff;
    }
  }
`;
