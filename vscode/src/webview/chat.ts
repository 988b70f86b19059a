/** The chat view: the page's chat, with the extension in place of the daemon. */
import "./language";
import type { DragomanPrompt } from "../../../web/src/chat/prompt";
import "../../../web/src/chat/chat";
import { gateway } from "./gateway";

window.addEventListener("inject-prompt", (event) => {
  const chat = document.querySelector("dragoman-chat")?.shadowRoot;
  chat?.querySelector<DragomanPrompt>("dragoman-prompt")?.put((event as CustomEvent<string>).detail);
});
gateway.start();
