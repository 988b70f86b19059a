/** Everything the page says to the daemon and hears from it, and the words it says it in. */
export { ask, call, post, session, stream, Refused, type Answer } from "./link/calls";
export { Away, unlessAway } from "./link/away";
export { feed, type FeedListener, type FeedState, type Row, type Snapshot } from "./link/feed";
export { gateway, type GatewayEvent } from "./link/gateway";
export { changeWatches, keepLanguage, keptWatches } from "./link/preferences";
export { t, chinese, locale, chosenLanguage } from "./i18n/t";
