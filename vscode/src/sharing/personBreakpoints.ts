/** Sends the person's own breakpoints to agents that use a lent session: one set, in which each has its owner. */
import * as vscode from "vscode";

import { coalesced } from "../../../web/src/parts/coalesced";
import type { Json } from "../bridge/rpcConnection";
import { currentState } from "./agentBreakpoints";

const MAX_SENT = 300;

/** Lists are sent one after another: the last one is valid. */
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
      this.lastSent = ""; // no longer lent, or the daemon is unreachable: sent again with the next change or loan
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
    return Promise.all(marks.slice(0, MAX_SENT).map((mark) => this.described(mark)));
  }

  private async described(mark: vscode.SourceBreakpoint): Promise<Json> {
    const bound = (await this.session.getDebugProtocolBreakpoint(mark)) as unknown as Json | undefined;
    return { path: mark.location.uri.fsPath, ...currentState(mark), isBound: bound?.verified === true };
  }
}
