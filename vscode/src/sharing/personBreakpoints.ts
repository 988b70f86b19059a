/** The person's own breakpoints, told to agents who have a session of theirs: one set, in which each is its owner's. */
import * as vscode from "vscode";

import { coalesced } from "../../../web/src/parts/coalesced";
import type { Json } from "../bridge/rpcConnection";
import { currentState } from "./agentBreakpoints";

const MOST_TOLD = 300;

/** One list after another: the last that is told is the one that is so. */
export class PersonBreakpoints {
  private lastSent = "";
  readonly changed = coalesced(() => this.send());

  constructor(
    private readonly session: vscode.DebugSession,
    private readonly folder: string,
    private readonly isPersons: (mark: vscode.SourceBreakpoint) => boolean,
    private readonly request: (params: Json) => Promise<unknown>,
  ) {}

  private async send(): Promise<void> {
    try {
      const breakpoints = await this.list();
      const text = JSON.stringify(breakpoints);
      if (text !== this.lastSent) await this.request({ session: this.session.id, breakpoints });
      this.lastSent = text;
    } catch {
      this.lastSent = ""; // not lent any more, or the daemon is away: it is told anew with the next change or loan
    }
  }

  private list(): Promise<Json[]> {
    const inside = (path: string) => path.startsWith(`${this.folder}/`);
    const marks = vscode.debug.breakpoints.filter(
      (it): it is vscode.SourceBreakpoint =>
        it instanceof vscode.SourceBreakpoint &&
        it.location.uri.scheme === "file" &&
        inside(it.location.uri.fsPath) &&
        this.isPersons(it),
    );
    return Promise.all(marks.slice(0, MOST_TOLD).map((mark) => this.described(mark)));
  }

  private async described(mark: vscode.SourceBreakpoint): Promise<Json> {
    const bound = (await this.session.getDebugProtocolBreakpoint(mark)) as unknown as Json | undefined;
    return { path: mark.location.uri.fsPath, ...currentState(mark), isBound: bound?.verified === true };
  }
}
