/** The server's state as plain text: the status bar's text, its icon and its tooltip. */
import type { ServerState } from "../daemon/status";
import { sessionLabel, type Translate } from "../daemon/sessionLabel";

export interface StatusText {
  text: string;
  tooltip: string;
  isWarning: boolean;
}

/** `looking`: the automatic start, which uses a running server if there is one. */
export type Activity = "looking" | "starting" | "ending";

export function statusText(
  known: ServerState,
  doing: Activity | undefined,
  t: Translate,
  isMissing = false,
): StatusText {
  if (doing === "starting")
    return { text: "$(sync~spin) Dragoman", tooltip: t("Starting the server"), isWarning: false };
  if (doing === "ending") return { text: "$(sync~spin) Dragoman", tooltip: t("Stopping the server"), isWarning: false };
  if (known.state === "running") return runningText(known.status, t);
  if (doing === "looking" || known.state === "unknown")
    return { text: "$(sync~spin) Dragoman", tooltip: t("Looking for the server"), isWarning: false };
  if (known.state === "silent")
    return { text: "$(warning) Dragoman", tooltip: t("The server does not respond"), isWarning: true };
  if (isMissing) return { text: "$(circle-slash) Dragoman", tooltip: t("dragoman is not installed"), isWarning: false };
  return { text: "$(circle-slash) Dragoman", tooltip: t("The server is not running"), isWarning: false };
}

function runningText(
  { port, wanted_port, workspace, sessions, version }: Extract<ServerState, { state: "running" }>["status"],
  t: Translate,
): StatusText {
  const count = sessions.length;
  const lines = [
    t("The server is running on port {0}, version {1}", port, version),
    t("Started for {0}", workspace),
    ...(wanted_port && wanted_port !== port ? [t("Port {0} was in use", wanted_port)] : []),
    count ? t("Live sessions: {0}", count) : t("No live sessions"),
    ...sessions.slice(0, 8).map((session) => `· ${sessionLabel(session, t)}`),
  ];
  return {
    text: `$(server-process) Dragoman ${port}${count ? ` · ${count}` : ""}`,
    tooltip: lines.join("\n"),
    isWarning: false,
  };
}
