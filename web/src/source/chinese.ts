import { CHINESE } from "../i18n/chinese";

Object.assign(CHINESE, {
  "Click for a breakpoint, right-click for one with conditions.": "单击设置断点，右键单击可设置条件。",
  "Find": "查找",
  "next": "下一个",
  "previous": "上一个",
  "all": "全选",
  "match case": "区分大小写",
  "regexp": "正则表达式",
  "by word": "全字匹配",
  "close": "关闭",
  "Go to line": "转到行",
  "go": "转到",
  "current match": "当前匹配项",
  "on line": "位于第",
  "Folded lines": "已折叠行",
  "Unfolded lines": "已展开行",
  "Fold line": "折叠此行",
  "Unfold line": "展开此行",
  "folded code": "已折叠的代码",
  "unfold": "展开",
  "to": "至",
});
