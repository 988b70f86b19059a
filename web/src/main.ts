import "./app/app";
import { redeemLoginCode } from "./link/requests";
import { feed } from "./link";
import { chinese } from "./i18n/t";

/** Also for a link that is opened in an open page: then only the fragment changes, and nothing is loaded. */
async function logIn(): Promise<void> {
  try {
    await redeemLoginCode();
  } catch (error) {
    window.dispatchEvent(new CustomEvent("login-refused", { detail: error }));
  }
  if (feed.state === "outside" || feed.isNew) feed.start();
}

if (chinese) document.documentElement.lang = "zh";
window.addEventListener("hashchange", () => void logIn());
await logIn();
