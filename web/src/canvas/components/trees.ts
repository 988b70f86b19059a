/** What opens: files, and the values of variables. Only what is in sight is drawn. */
import { html, nothing } from "lit";
import { scrolled } from "../../parts/scroll";
import { define, type Node, type Painter } from "../model";
import { list, records, said, text } from "../values";

interface Branch {
  name: string;
  path: string;
  label: unknown;
  children(): Branch[];
  isBranch: boolean;
}

const HEIGHT = 26;
const MOST_ROWS = 50_000;

define("FileTree", (node, painter) => {
  const memory = painter.memory(node, { closed: new Set<string>() });
  const top = folders(list(painter.value(node, "items")).map(text));
  return tree(node, painter, top, memory.closed, { startsOpen: true, choosesBranches: false });
}, { fills: true });

define("VariableTree", (node, painter) => {
  const memory = painter.memory(node, { opened: new Set<string>() });
  const top = records(painter.value(node, "variables")).map((one) => variable(one, ""));
  const title = said(painter, node, "title");
  return html`${title ? html`<div class="title">${title}</div>` : nothing}
    ${tree(node, painter, top, memory.opened, { startsOpen: false, choosesBranches: true })}`;
}, { fills: true });

interface Habits {
  startsOpen: boolean;
  choosesBranches: boolean;
}

function tree(node: Node, painter: Painter, top: Branch[], turned: Set<string>, habits: Habits) {
  const isOpen = ({ path }: Branch) => turned.has(path) !== habits.startsOpen;
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
  return html`<div class="tree">${scrolled(rows, HEIGHT, 420, ([branch, depth]) => {
    const choose = () => (branch.isBranch && !habits.choosesBranches ? turn(branch) : painter.act(node, { path: branch.path }));
    return html`<div class="leaf" .style=${`padding-left:${depth * 1.1}rem`}>
      ${branch.isBranch
        ? html`<button class="plain turn" aria-label=${branch.name} aria-expanded=${isOpen(branch)} @click=${() => turn(branch)}>${isOpen(branch) ? "▾" : "▸"}</button>`
        : html`<span class="turn"></span>`}
      <button class="plain name" aria-disabled=${painter.isBusy} @click=${choose}>${branch.label}</button>
    </div>`;
  })}</div>`;
}

function folders(paths: string[]): Branch[] {
  interface Folder { [name: string]: Folder }
  const root: Folder = Object.create(null) as Folder;
  for (const path of paths) {
    let at = root;
    for (const part of path.split("/").filter(Boolean).slice(0, 40)) at = at[part] ??= Object.create(null) as Folder;
  }
  const branches = (folder: Folder, above: string): Branch[] =>
    Object.entries(folder).map(([name, inner]) => {
      const path = above ? `${above}/${name}` : name;
      const isBranch = Object.keys(inner).length > 0;
      return { name, path, label: isBranch ? `${name}/` : name, isBranch, children: () => branches(inner, path) };
    });
  return branches(root, "");
}

function variable(one: Record<string, unknown>, above: string): Branch {
  const name = text(one.name);
  const path = above ? `${above}.${name}` : name;
  const children = records(one.children);
  const label = html`<b>${name}</b>${one.type ? html` <i class="quiet">${text(one.type)}</i>` : nothing} <span>${text(one.value)}</span>`;
  return { name, path, label, isBranch: children.length > 0, children: () => children.map((child) => variable(child, path)) };
}
