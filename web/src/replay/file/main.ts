/** A saved session: one file that shows what happened, with nothing else needed. */
import "../../page.css";
import { chinese } from "../../i18n/t";
import { rememberActor } from "../../parts/actors";
import "./chinese";
import { recording } from "./offlineLink";
import "./replayFile";

if (chinese) document.documentElement.lang = "zh";
for (const [id, name] of Object.entries(recording.names))
  rememberActor({ sequence: 0, at_ns: 0, event: { kind: "mcp.connected", session: id, body: { client: name } } });
document.title = recording.title || recording.session;
document.body.append(document.createElement("dragoman-replay-file"));
