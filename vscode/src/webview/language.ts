/**
 * Loaded first: the editor's language is the view's, and the conversation is the one that was open. A view's own
 * storage is new each time.
 */
document.documentElement.dataset["language"] = document.documentElement.lang;
const { conversation } = document.body.dataset;
if (conversation) sessionStorage.setItem("chat", conversation);
export {};
