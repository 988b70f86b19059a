/** A saved replay has no chat to ask in. */
export const chatQuote = { isThere: false, ask: () => undefined };
