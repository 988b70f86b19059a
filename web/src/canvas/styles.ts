import { css } from "lit";

/** What the components look like. */
export const canvasStyles = css`
  :host {
    display: block;
    padding: 1rem;
    overflow: auto;
  }
  .component {
    min-width: 0;
  }
  [aria-disabled="true"] {
    opacity: 0.55;
    cursor: default;
  }
  .opens {
    cursor: pointer;
    text-decoration: underline dotted;
    text-underline-offset: 0.25em;
  }
  .opens:has(button) {
    text-decoration: none;
  }
  .opens button {
    pointer-events: none;
    opacity: 1;
  }
  .box {
    display: flex;
    gap: 0.7rem;
    min-width: 0;
  }
  .box.row {
    flex-wrap: wrap;
  }
  .box.row.scrolls {
    flex-wrap: nowrap;
    overflow-x: auto;
  }
  .box.column {
    flex-direction: column;
  }
  .box.row > .fills {
    flex: 1 1 18rem;
  }
  .card {
    padding: 0.9rem 1rem;
    border: 1px solid var(--line);
    border-radius: 0.6rem;
    background: var(--card);
  }
  .h {
    font-weight: 650;
    line-height: 1.25;
  }
  .h1 {
    font-size: 1.7rem;
  }
  .h2 {
    font-size: 1.4rem;
  }
  .h3 {
    font-size: 1.18rem;
  }
  .h4 {
    font-size: 1.05rem;
  }
  .title {
    font-weight: 600;
    padding: 0.3rem 0;
    overflow-wrap: anywhere;
  }
  .prose {
    overflow-wrap: anywhere;
  }
  .prose > :first-child {
    margin-top: 0;
  }
  .prose > :last-child {
    margin-bottom: 0;
  }
  .prose p {
    margin: 0.4rem 0;
  }
  .prose h1 {
    font-size: 1.4rem;
  }
  .prose h2 {
    font-size: 1.2rem;
  }
  .prose h3 {
    font-size: 1.05rem;
  }
  .prose :is(h1, h2, h3, h4) {
    margin: 0.7rem 0 0.3rem;
    line-height: 1.25;
  }
  .prose :is(ul, ol) {
    margin: 0.3rem 0;
    padding-left: 1.6rem;
  }
  .prose pre {
    padding: 0.6rem 0.8rem;
    border-radius: 0.4rem;
    background: var(--raised);
    overflow: auto;
  }
  .prose code {
    font: 0.9em var(--mono);
    background: var(--raised);
    padding: 0.05em 0.3em;
    border-radius: 0.25rem;
  }
  .prose pre code {
    padding: 0;
  }
  a {
    color: var(--accent);
    overflow-wrap: anywhere;
  }
  [data-type="Button"] .quiet {
    color: inherit;
  }
  table {
    border-collapse: collapse;
  }
  th,
  td {
    border: 1px solid var(--line);
    padding: 0.2rem 0.6rem;
    text-align: left;
  }
  .icon {
    font-size: 1.2em;
  }
  hr {
    border: 0;
    border-top: 1px solid var(--line);
    margin: 0.3rem 0;
  }
  hr.vertical {
    border-top: 0;
    border-left: 1px solid var(--line);
    height: 100%;
    min-height: 1.5rem;
    margin: 0;
  }
  figure {
    margin: 0;
    display: flex;
    flex-direction: column;
    gap: 0.2rem;
    overflow-wrap: anywhere;
  }
  .elsewhere {
    border: 1px dashed var(--line);
    border-radius: 0.5rem;
    padding: 0.6rem 0.8rem;
  }
  .picture {
    max-width: 40rem;
    max-height: 30rem;
  }
  .picture.icon {
    width: 2rem;
    height: 2rem;
  }
  .picture.avatar {
    width: 3rem;
    height: 3rem;
    border-radius: 50%;
    overflow: hidden;
  }
  .picture.smallFeature {
    width: 8rem;
    height: 8rem;
  }
  .picture.mediumFeature {
    width: 16rem;
    height: 16rem;
  }
  .picture.largeFeature {
    width: 100%;
    max-width: 40rem;
  }
  .picture.header {
    width: 100%;
    height: 8rem;
    max-width: none;
  }
  [data-type="Divider"] {
    align-self: stretch;
  }
  .tabs {
    display: flex;
    gap: 0.2rem;
    border-bottom: 1px solid var(--line);
    margin-bottom: 0.6rem;
    overflow-x: auto;
  }
  .tabs [aria-selected="true"] {
    color: var(--accent);
    font-weight: 600;
    border-bottom: 2px solid var(--accent);
    border-radius: 0;
  }
  .modal {
    margin-top: 0.5rem;
    padding: 1rem;
    border: 2px solid var(--accent);
    border-radius: 0.6rem;
    background: var(--card);
    display: flex;
    flex-direction: column;
    gap: 0.8rem;
    align-items: flex-start;
  }
  .field {
    display: flex;
    flex-direction: column;
    gap: 0.2rem;
    max-width: 32rem;
  }
  .field > span:first-child,
  legend {
    color: var(--quiet);
    font-size: 0.92rem;
  }
  .choice {
    display: flex;
    gap: 0.5rem;
    align-items: center;
    padding: 0.1rem 0;
  }
  .chips {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4rem;
  }
  .chips .choice {
    border: 1px solid var(--line);
    border-radius: 1rem;
    padding: 0.1rem 0.8rem 0.1rem 0.6rem;
    background: var(--card);
  }
  .chips .choice:has(:checked) {
    border-color: var(--accent);
    background: var(--raised);
  }
  .filter {
    width: 100%;
    margin-bottom: 0.3rem;
  }
  fieldset {
    border: 1px solid var(--line);
    border-radius: 0.5rem;
    padding: 0.4rem 0.8rem 0.6rem;
    max-width: 32rem;
    margin: 0;
  }
  .slider {
    display: flex;
    gap: 0.7rem;
    align-items: center;
  }
  .slider input {
    flex: 1;
    padding: 0;
  }
  input[type="checkbox"],
  input[type="radio"],
  input[type="range"] {
    accent-color: var(--accent);
  }
  .form {
    display: flex;
    flex-direction: column;
    gap: 0.8rem;
    max-width: 40rem;
  }
  .form abbr {
    color: var(--bad);
    text-decoration: none;
    margin-left: 0.2em;
  }
  .scrolled {
    position: relative;
  }
  .scrolled dragoman-rows {
    height: 100%;
  }
  .code {
    border: 1px solid var(--line);
    border-radius: 0.5rem;
    background: var(--card);
    overflow: hidden;
  }
  .code > .title {
    display: flex;
    justify-content: space-between;
    gap: 1rem;
    padding: 0.3rem 0.8rem;
    border-bottom: 1px solid var(--line);
    font: 600 0.88rem var(--mono);
  }
  .code dragoman-rows {
    overflow-x: auto;
  }
  .code .foot {
    display: flex;
    gap: 0.6rem;
    padding: 0.6rem 0.8rem;
    border-top: 1px solid var(--line);
  }
  .line {
    display: flex;
    height: 20px;
    font: 0.85rem/20px var(--mono);
    white-space: pre;
    tab-size: 4;
    width: max-content;
    min-width: 100%;
  }
  .line .no {
    flex: none;
    width: 3.2rem;
    padding-right: 0.8rem;
    text-align: right;
    color: var(--quiet);
    user-select: none;
  }
  .line .sign {
    flex: none;
    width: 1.2rem;
    user-select: none;
  }
  .line.marked {
    background: var(--marked);
  }
  .line.added {
    background: var(--added);
  }
  .line.removed {
    background: var(--removed);
  }
  .terminal .line {
    padding: 0 0.8rem;
  }
  .bold {
    font-weight: 700;
  }
  .ink-red {
    color: var(--bad);
  }
  .ink-green {
    color: var(--good);
  }
  .ink-yellow {
    color: var(--warn);
  }
  .ink-blue,
  .ink-cyan {
    color: var(--accent);
  }
  .ink-magenta {
    color: #a0489b;
  }
  .ink-black {
    color: var(--quiet);
  }
  .table {
    display: flex;
    flex-direction: column;
    gap: 0.4rem;
  }
  .table > input {
    align-self: flex-start;
    width: 16rem;
  }
  .wide {
    overflow-x: auto;
  }
  [role="table"] {
    min-width: min-content;
    border: 1px solid var(--line);
    border-radius: 0.5rem;
    overflow: hidden;
    background: var(--card);
  }
  .cells {
    display: grid;
    height: 30px;
    align-items: center;
    border-bottom: 1px solid var(--line);
    font-size: 0.92rem;
  }
  .cells.head {
    background: var(--raised);
  }
  .cells.head button {
    text-align: left;
    font-weight: 600;
    border-radius: 0;
    padding: 0 0.7rem;
    height: 30px;
  }
  .cells > span {
    padding: 0 0.7rem;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .cells .end,
  .cells.head .end {
    text-align: right;
    font-variant-numeric: tabular-nums;
  }
  .cells[tabindex]:hover {
    background: var(--raised);
    cursor: pointer;
  }
  .chart svg {
    width: 100%;
    max-width: 760px;
    height: auto;
  }
  .chart .grid {
    stroke: var(--line);
  }
  .tabs button:focus-visible {
    outline-offset: -2px;
  }
  .chart .tick,
  .chart .axis {
    fill: var(--quiet);
    font-size: 11px;
  }
  .chart .axis {
    font-weight: 600;
  }
  .legend {
    display: flex;
    flex-wrap: wrap;
    gap: 0.2rem 1.2rem;
  }
  .legend span span {
    color: var(--ink);
  }
  .ink0 {
    color: var(--accent);
  }
  .ink1 {
    color: var(--bad);
  }
  .ink2 {
    color: var(--warn);
  }
  .ink3 {
    color: #7a63c7;
  }
  .ink4 {
    color: var(--good);
  }
  .ink5 {
    color: #b0508f;
  }
  .tree {
    border: 1px solid var(--line);
    border-radius: 0.5rem;
    background: var(--card);
    padding: 0.2rem 0.4rem;
  }
  .leaf {
    display: flex;
    height: 26px;
    align-items: center;
    white-space: nowrap;
  }
  .leaf .turn {
    flex: none;
    width: 1.5rem;
    padding: 0;
    text-align: center;
  }
  .leaf .name {
    padding: 0 0.3rem;
    overflow: hidden;
    text-overflow: ellipsis;
    font: 0.88rem var(--mono);
    text-align: left;
  }
  .frames {
    margin: 0;
    padding-left: 2rem;
  }
  .frames button {
    padding: 0.1rem 0.4rem;
    text-align: left;
  }
  .timeline {
    list-style: none;
    margin: 0;
    padding: 0 0 0 0.4rem;
    border-left: 2px solid var(--accent);
  }
  .timeline li {
    padding: 0.1rem 0.4rem;
  }
  .timeline button {
    text-align: left;
  }
  .timeline .failed b {
    color: var(--bad);
  }
  .progress {
    display: flex;
    flex-wrap: wrap;
    gap: 0.6rem;
    align-items: center;
  }
  .progress.done {
    color: var(--good);
  }
  .progress.failed {
    color: var(--bad);
  }
  progress {
    accent-color: var(--accent);
    flex: 1;
    max-width: 20rem;
  }
  .confirmation {
    min-height: 1.5em;
    font-size: 0.88rem;
    margin: 0.6rem 0 0;
  }
`;
