/** A saved session: one file that shows what happened, with nothing else needed. */
import "../../page.css";
import { CHINESE } from "../../i18n/chinese";
import { chinese } from "../../i18n/t";
import { rememberActor } from "../../parts/actors";
import { recording } from "./offlineLink";
import "./replayFile";

Object.assign(CHINESE, {
  "A recorded debug session": "录制的调试会话",
  "{count} stops are not in this file.": "有 {count} 次停止未包含在此文件中。",
  "{count} source files are not in this file.": "有 {count} 个源文件未包含在此文件中。",
  "This file is not in the recording.": "录制内容中没有此文件。",
});
if (chinese) document.documentElement.lang = "zh";
for (const [id, name] of Object.entries(recording.names))
  rememberActor({ sequence: 0, at_ns: 0, event: { kind: "mcp.connected", session: id, body: { client: name } } });
document.title = recording.title || recording.session;
document.body.append(document.createElement("dragoman-replay-file"));
