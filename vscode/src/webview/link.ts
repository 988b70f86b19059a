/**
 * Replaces the page's own link in the bundles of the views: requests to the daemon go through the extension.
 *
 * Everything else is the page's own code. If it used an address, the view's content policy would refuse it.
 */
export * from "../../../web/src/link/requests";
export { Unreachable, ignoreUnreachable } from "../../../web/src/link/unreachable";
export * from "../../../web/src/link/preferences";
export * from "../../../web/src/i18n/t";
export type { FeedListener, FeedState, FeedRow, Snapshot } from "../../../web/src/link/feed";
export type { GatewayEvent } from "../../../web/src/link/gateway";
export { request, feed, post } from "./surfaces";
export { gateway } from "./gateway";
