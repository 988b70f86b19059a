/** Stands for the page's own link in the bundles of the views: what is asked of the daemon goes through the extension.
 *
 * What is not named here is the page's own; were it to reach for an address, the view's policy would refuse it.
 */
export * from "../../../web/src/link/calls";
export { Away, unlessAway } from "../../../web/src/link/away";
export * from "../../../web/src/link/preferences";
export * from "../../../web/src/i18n/t";
export type { FeedListener, FeedState, Row, Snapshot } from "../../../web/src/link/feed";
export type { GatewayEvent } from "../../../web/src/link/gateway";
export { ask, feed, post } from "./surfaces";
export { gateway } from "./gateway";
