/** Which `dragoman` this window uses: found once, and again when what decides it changes. */
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import * as vscode from "vscode";

import { Dragoman, type Program } from "../daemon/command";
import { findProgram } from "../daemon/programSearch";

export class ProgramFinder implements vscode.Disposable {
  private found: Promise<Program | undefined> | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  readonly onDidChange = this.changed.event;
  /** The search found no program. */
  isMissing = false;
  private readonly didSearch = new vscode.EventEmitter<void>();
  readonly onDidSearch = this.didSearch.event;

  constructor(
    private readonly storage: vscode.Uri,
    private readonly extension: vscode.Uri,
  ) {
    this.subscriptions = [
      this.changed,
      this.didSearch,
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.forget()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.forget()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("dragoman.path") || change.affectsConfiguration("python")) this.forget();
      }),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** The folder of the environment that is ours. */
  get managedEnvironment(): string {
    return vscode.Uri.joinPath(this.storage, "environment").fsPath;
  }

  /** The file with what our environment needs, by hashes. */
  get requirements(): string {
    return vscode.Uri.joinPath(this.extension, "dist", "requirements.txt").fsPath;
  }

  get configuredPath(): string {
    return vscode.workspace.getConfiguration("dragoman").get<string>("path", "").trim();
  }

  forget(): void {
    this.found = undefined;
    this.changed.fire();
  }

  async find(): Promise<Dragoman | undefined> {
    this.found ??= this.search();
    if (await this.isGone()) this.found = this.search();
    const program = await this.found;
    if (!program) this.found = undefined; // it may be installed any moment
    this.isMissing = !program;
    this.didSearch.fire();
    return program && new Dragoman(program, vscode.env.language);
  }

  /**
   * Removed since it was found: with its environment, or for a newer one elsewhere. A bare name is looked up with each
   * start.
   */
  private async isGone(): Promise<boolean> {
    const program = await this.found;
    return program !== undefined && isAbsolute(program.path) && !existsSync(program.path);
  }

  private search(): Promise<Program | undefined> {
    const isTrusted = vscode.workspace.isTrusted;
    const folders = isTrusted ? folderPaths() : [];
    const interpreter = isTrusted
      ? vscode.workspace.getConfiguration("python").get<string>("defaultInterpreterPath")
      : undefined;
    return findProgram({ named: this.configuredPath, folders, interpreter, own: this.managedEnvironment });
  }
}

export function folderPaths(): string[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
}
