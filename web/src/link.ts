/** Everything that the page sends to the daemon and receives from it. */
export { request, readText, callTool, post, session, stream, RequestError, type ToolResult } from "./link/requests";
export { Unreachable, ignoreUnreachable } from "./link/unreachable";
export { feed, type FeedListener, type FeedState, type FeedRow, type Snapshot } from "./link/feed";
export { gateway, type GatewayEvent } from "./link/gateway";
export {
  changePreferences,
  changeWatches,
  chosenTheme,
  saveLanguage,
  saveTheme,
  savedPreferences,
  savedWatches,
  type ThemeChoice,
} from "./link/preferences";
export { t, chinese, locale, chosenLanguage } from "./i18n/t";
