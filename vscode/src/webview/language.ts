/** Loaded first: the editor's language is the view's. */
localStorage.setItem("language", document.documentElement.lang);
export {};
