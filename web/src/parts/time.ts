/** One clock for every view: of 24 hours, as programs and terminals write it. */
import { locale } from "../i18n/t";

export function timeOfDay(when: number | string): string {
  return new Date(when).toLocaleTimeString(locale, { hourCycle: "h23" });
}

export function dateAndTime(when: number | string): string {
  return new Date(when).toLocaleString(locale, { hourCycle: "h23" });
}
