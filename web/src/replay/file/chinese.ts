import { CHINESE } from "../../i18n/chinese";

Object.assign(CHINESE, {
  "A recorded debug session": "录制的调试会话",
  "{count} stops are not in this file.": "有 {count} 次停止未包含在此文件中。",
  "{count} source files are not in this file.": "有 {count} 个源文件未包含在此文件中。",
  "This file is not in the recording.": "录制内容中没有此文件。",
});
