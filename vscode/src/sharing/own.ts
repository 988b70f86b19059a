/** The person's own breakpoints, told to agents who have a session of theirs: one set, in which each is its owner's. */
import * as vscode from "vscode";

import { anew } from "../../../web/src/parts/anew";
import type { Json } from "../bridge/link";
import { now } from "./marks";

const MOST_TOLD = 300;

/** One list after another: the last that is told is the one that is so. */
export class Own {
  private told = "";
  readonly changed = anew(() => this.tell());

  constructor(
    private readonly session: vscode.DebugSession,
    private readonly folder: string,
    private readonly isTheirs: (mark: vscode.SourceBreakpoint) => boolean,
    private readonly ask: (params: Json) => Promise<unknown>,
  ) {}

  private async tell(): Promise<void> {
    try {
      const breakpoints = await this.list();
      const text = JSON.stringify(breakpoints);
      if (text !== this.told) await this.ask({ session: this.session.id, breakpoints });
      this.told = text;
    } catch {
      this.told = ""; // not lent any more, or the daemon is away: it is told anew with the next change or loan
    }
  }

  private list(): Promise<Json[]> {
    const inside = (path: string) => path.startsWith(`${this.folder}/`);
    const marks = vscode.debug.breakpoints.filter(
      (it): it is vscode.SourceBreakpoint =>
        it instanceof vscode.SourceBreakpoint && it.location.uri.scheme === "file" && inside(it.location.uri.fsPath) && this.isTheirs(it),
    );
    return Promise.all(marks.slice(0, MOST_TOLD).map((mark) => this.described(mark)));
  }

  private async described(mark: vscode.SourceBreakpoint): Promise<Json> {
    const bound = (await this.session.getDebugProtocolBreakpoint(mark)) as unknown as Json | undefined;
    return { path: mark.location.uri.fsPath, ...now(mark), isBound: bound?.verified === true };
  }
}
