import { css } from "lit";
import { expect, test } from "vitest";
import { componentOf, componentStyles, define } from "../../src/canvas/model";

test("a component is found by its type; the last definition counts", () => {
  const [draw, other] = [() => "one", () => "two"];
  define("Gauge", draw);
  expect(componentOf("Gauge")).toEqual({ draw, fills: false });
  define("Gauge", other, { fills: true });
  expect(componentOf("Gauge")).toEqual({ draw: other, fills: true });
  expect(componentOf("gauge")).toBeUndefined();
});

test("only components with a style of their own add one", () => {
  const before = componentStyles().length;
  const looks = css`
    .dial {
      color: red;
    }
  `;
  define("Plain", () => "");
  define("Dial", () => "", { looks });
  expect(componentStyles().slice(before)).toEqual([looks]);
});
