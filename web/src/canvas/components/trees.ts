/** Rows that open: files, and the values of variables. Only visible rows are drawn. */
import { html, nothing } from "lit";
import { scrollBox } from "../../parts/scrollBox";
import { define, type Node, type Painter } from "../model";
import { list, records, textProperty, text } from "../values";

interface Branch {
  name: string;
  path: string;
  label: unknown;
  children(): Branch[];
  isBranch: boolean;
  /** The action of a row; undefined for a row that can only be opened. */
  actionPath: string | undefined;
}

const HEIGHT = 26;
const MOST_ROWS = 50_000;
const DEEPEST = 40;

define(
  "FileTree",
  (node, painter) => {
    const memory = painter.memory(node, { closed: new Set<string>() });
    const top = folders(list(painter.value(node, "items")).map(text));
    return tree(node, painter, top, memory.closed, true);
  },
  { fills: true },
);

define(
  "VariableTree",
  (node, painter) => {
    const memory = painter.memory(node, { opened: new Set<string>() });
    const top = records(painter.value(node, "variables")).map((one) => variable(one, ""));
    const title = textProperty(painter, node, "title");
    return html`${title ? html`<div class="title">${title}</div>` : nothing}
    ${tree(node, painter, top, memory.opened, false)}`;
  },
  { fills: true },
);

function tree(node: Node, painter: Painter, top: Branch[], turned: Set<string>, startsOpen: boolean) {
  const isOpen = ({ path }: Branch) => turned.has(path) !== startsOpen;
  const turn = ({ path }: Branch) => {
    if (!turned.delete(path)) turned.add(path);
    painter.redraw();
  };
  const rows: [Branch, number][] = [];
  const walk = (branches: Branch[], depth: number) => {
    for (const branch of branches) {
      if (rows.length >= MOST_ROWS) return;
      rows.push([branch, depth]);
      if (branch.isBranch && isOpen(branch)) walk(branch.children(), depth + 1);
    }
  };
  walk(top, 0);
  return html`<div class="tree"
    >${scrollBox(rows, HEIGHT, 420, ([branch, depth]) => {
      const choose = () =>
        branch.actionPath === undefined ? turn(branch) : painter.act(node, { path: branch.actionPath });
      return html`<div class="leaf" .style=${`padding-left:${depth * 1.1}rem`}>
        ${
          branch.isBranch
            ? html`<button
                class="plain turn"
                aria-label=${branch.name}
                aria-expanded=${isOpen(branch)}
                @click=${() => turn(branch)}
                >${isOpen(branch) ? "▾" : "▸"}</button
              >`
            : html`<span class="turn"></span>`
        }
        <button class="plain name" aria-disabled=${painter.isBusy} @click=${choose}>${branch.label}</button>
      </div>`;
    })}</div
  >`;
}

interface Folder {
  inner: Map<string, Folder>;
  /** The entry that ends here, as the agent wrote it. */
  entry?: string;
}

function folders(entries: string[]): Branch[] {
  const root: Folder = { inner: new Map() };
  for (const entry of entries) {
    let at = root;
    for (const part of partsOf(entry)) {
      const inner: Folder = at.inner.get(part) ?? { inner: new Map() };
      at.inner.set(part, inner);
      at = inner;
    }
    at.entry = entry;
  }
  return childBranches(root, "");
}

function childBranches(folder: Folder, above: string): Branch[] {
  return [...folder.inner].map(([name, inner]) => {
    const path = above ? `${above}/${name}` : name;
    const isBranch = inner.inner.size > 0;
    const label = isBranch || inner.entry?.endsWith("/") ? `${name}/` : name;
    return { name, path, label, isBranch, actionPath: inner.entry, children: () => childBranches(inner, path) };
  });
}

/** Levels that are too deep are shown in one row. */
function partsOf(entry: string): string[] {
  const parts = entry.split("/").filter(Boolean);
  if (entry.startsWith("/") && parts.length) parts[0] = `/${parts[0]}`;
  return parts.length > DEEPEST ? [...parts.slice(0, DEEPEST - 1), parts.slice(DEEPEST - 1).join("/")] : parts;
}

function variable(one: Record<string, unknown>, above: string): Branch {
  const name = text(one.name);
  const path = above ? `${above}.${name}` : name;
  const children = records(one.children);
  const label = html`<b>${name}</b>${one.type ? html` <i class="quiet">${text(one.type)}</i>` : nothing}
    <span>${text(one.value)}</span>`;
  return {
    name,
    path,
    label,
    isBranch: children.length > 0,
    actionPath: path,
    children: () => children.map((child) => variable(child, path)),
  };
}
