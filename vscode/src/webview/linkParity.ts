/** Not built: fails the check of types when the page's parts ask of their link what ours has not. */
import type * as page from "../../../web/src/link";
import type * as ours from "./link";

type Lacks<Theirs, Ours> = Exclude<keyof Theirs, keyof Ours>;
type None<Names> = [Names] extends [never] ? true : Names;

export const everyName: None<Lacks<typeof page, typeof ours>> = true;
export const everyMember: None<Lacks<typeof page.gateway, typeof ours.gateway>> = true;
