/** What is shown of the server, as plain words: the status bar's text, its sign and its tooltip. */
import type { Known } from "../daemon/status";
import { named, type Words } from "../daemon/words";

export interface Shown {
  text: string;
  tooltip: string;
  isWarning: boolean;
}

/** `looking`: the start by itself, which uses the one that runs. */
export type Doing = "looking" | "starting" | "ending";

export function shown(known: Known, doing: Doing | undefined, t: Words, isMissing = false): Shown {
  if (doing === "starting") return { text: "$(sync~spin) Dragoman", tooltip: t("Starting the server"), isWarning: false };
  if (doing === "ending") return { text: "$(sync~spin) Dragoman", tooltip: t("Ending the server"), isWarning: false };
  if (known.state === "running") return running(known.status, t);
  if (doing === "looking" || known.state === "unknown")
    return { text: "$(sync~spin) Dragoman", tooltip: t("Looking for the server"), isWarning: false };
  if (known.state === "silent") return { text: "$(warning) Dragoman", tooltip: t("The server does not answer"), isWarning: true };
  if (isMissing) return { text: "$(circle-slash) Dragoman", tooltip: t("dragoman is not installed"), isWarning: false };
  return { text: "$(circle-slash) Dragoman", tooltip: t("The server is not running"), isWarning: false };
}

function running({ port, wanted_port, workspace, sessions, version }: Extract<Known, { state: "running" }>["status"], t: Words): Shown {
  const count = sessions.length;
  const lines = [
    t("The server runs on port {0}, version {1}", port, version),
    t("It was started for {0}", workspace),
    ...(wanted_port && wanted_port !== port ? [t("Port {0} was taken", wanted_port)] : []),
    count ? t("Live sessions: {0}", count) : t("No live sessions"),
    ...sessions.slice(0, 8).map((life) => `· ${named(life, t)}`),
  ];
  return { text: `$(server-process) Dragoman ${port}${count ? ` · ${count}` : ""}`, tooltip: lines.join("\n"), isWarning: false };
}
