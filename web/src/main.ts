import "./app/frame";
import { spendCode } from "./link/calls";
import { feed } from "./link";
import { chinese } from "./i18n/t";

if (chinese) document.documentElement.lang = "zh";
try {
  await spendCode();
} catch (error) {
  window.dispatchEvent(new CustomEvent("login-refused", { detail: error }));
}
feed.begin();
