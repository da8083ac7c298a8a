import { stripVTControlCharacters } from "node:util";
import { cell } from "./format.rules.ts";

export interface Column<Row> {
  title: string;
  value(row: Row): string | number | boolean | null | undefined;
  align?: "right";
}

const gap = 2;
const narrowest = 8;

/** Aligned columns. In a terminal of `width` cells, the widest columns are cut so that each row fits one line. */
export function tableOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width?: number): string[] {
  const cells = rows.map((row) => columns.map(({ value }) => cell(String(value(row) ?? ""))));
  // A column without any value says nothing.
  const used = columns.flatMap((_, n) => (cells.some((line) => line[n] !== "") || rows.length === 0 ? [n] : []));
  const lines = [columns.map(({ title }) => title.toUpperCase()), ...cells].map((line) =>
    used.map((n) => line[n] ?? ""),
  );
  const widths = fitted(
    used.map((_, n) => Math.max(...lines.map((line) => widthOf(line[n] ?? "")))),
    width,
  );
  return lines.map((line) =>
    line
      .map((text, n) => padded(text, widths[n] ?? 0, columns[used[n] ?? 0]?.align))
      .join(" ".repeat(gap))
      .trimEnd(),
  );
}

/** Takes from the widest column until the row fits. */
function fitted(widths: number[], width: number | undefined): number[] {
  if (width === undefined) return widths;
  const fit = [...widths];
  let surplus = fit.reduce((sum, one) => sum + one + gap, -gap) - width;
  while (surplus > 0) {
    const widest = Math.max(...fit);
    if (widest <= narrowest) break;
    fit[fit.indexOf(widest)] = widest - 1;
    surplus--;
  }
  return fit;
}

function padded(text: string, width: number, align: "right" | undefined): string {
  const cut = widthOf(text) > width ? `${sliced(text, width - 1)}…` : text;
  const space = " ".repeat(Math.max(0, width - widthOf(cut)));
  return align === "right" ? space + cut : cut + space;
}

const segments = new Intl.Segmenter();

/** The longest beginning that fits in `width` cells. */
export function sliced(text: string, width: number): string {
  let cut = "";
  let used = 0;
  for (const { segment } of segments.segment(text)) {
    used += segmentWidth(segment);
    if (used > width) break;
    cut += segment;
  }
  return cut;
}

const plain = /^[\u0020-\u007e…–]*$/;

/** Cells in a terminal. */
export function widthOf(text: string): number {
  const shown = stripVTControlCharacters(text);
  if (plain.test(shown)) return shown.length;
  let width = 0;
  for (const { segment } of segments.segment(shown)) width += segmentWidth(segment);
  return width;
}

const wide =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\uff01-\uff60\p{Emoji_Presentation}]/u;

const segmentWidth = (segment: string): number => (wide.test(segment) ? 2 : 1);
