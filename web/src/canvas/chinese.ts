import { CHINESE } from "../i18n/chinese";

Object.assign(CHINESE, {
  "Opened": "已打开",
  "The surface in this address no longer exists.": "此地址对应的界面已不存在。",
  "Terminal": "终端",
  "Code": "代码",
  "Difference": "差异",
  "Filter choices": "筛选选项",
  "[this picture cannot be shown: PNG and JPEG can, up to 16 million points]":
    "[无法显示此图片：支持 PNG 和 JPEG，最多一千六百万像素]",
});
