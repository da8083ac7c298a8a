import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const css = readFileSync(new URL("../src/styles.css", import.meta.url), "utf8");

type Tokens = Record<string, string>;

function tokensOf(selector: string): Tokens {
  const block = css.split(`${selector} {`)[1]?.split("}")[0] ?? "";
  return Object.fromEntries(
    Array.from(block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g), ([, name, value]) => [name, value]),
  );
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast ratio of WCAG 2.2. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const surfaces = ["page", "panel", "sunken"];
/** What is drawn on what, and the ratio that WCAG asks for: text 4.5, edges of controls 3. */
const pairs: [front: string, backs: string[], least: number][] = [
  // Text, placeholders and disabled buttons.
  ["ink", [...surfaces, "accent-soft", "good-soft", "bad-soft", "warn-soft", "info-soft"], 4.5],
  ["muted", [...surfaces, "accent-soft", "good-soft", "bad-soft", "warn-soft", "info-soft"], 4.5],
  // Links, and the active entry of the sidebar.
  ["accent", [...surfaces, "accent-soft", "good-soft", "bad-soft", "warn-soft", "info-soft"], 4.5],
  ["accent-ink", ["accent"], 4.5],
  ...["good", "bad", "warn", "info"].map((tone): [string, string[], number] => [
    tone,
    [...surfaces, `${tone}-soft`],
    4.5,
  ]),
  ["field-line", surfaces, 3],
];

const themes = { light: tokensOf(":root"), dark: tokensOf('[data-theme="dark"]') };

test.each(Object.entries(themes))("colours of the %s theme have enough contrast", (_theme, tokens) => {
  const weak = pairs.flatMap(([front, backs, least]) =>
    backs.flatMap((back) => {
      const ratio = contrast(tokens[front] ?? "", tokens[back] ?? "");
      return ratio >= least ? [] : [`${front} on ${back}: ${ratio.toFixed(2)} of ${least}`];
    }),
  );
  expect(weak).toEqual([]);
});
