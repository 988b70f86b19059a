import "./app/frame";
import { spendCode } from "./link/calls";
import { feed } from "./link";
import { chinese } from "./i18n/t";

/** Also a link that is opened where the page is already: then the fragment alone changes, and nothing is loaded. */
async function enter(): Promise<void> {
  try {
    await spendCode();
  } catch (error) {
    window.dispatchEvent(new CustomEvent("login-refused", { detail: error }));
  }
  if (feed.state === "outside" || feed.isNew) feed.begin();
}

if (chinese) document.documentElement.lang = "zh";
window.addEventListener("hashchange", () => void enter());
await enter();
