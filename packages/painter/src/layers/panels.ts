import { mix } from "../colour.ts";
import type { Box } from "../placing.ts";
import type { Random } from "../random.ts";
import type { Reference } from "../references.ts";
import type { Gradients } from "../svg.ts";
import { ellipse, group, num, rect, stroke } from "../svg.ts";

/** A reference in the picture. Up to three are billboards; more are prints on lines across the picture. */
interface Panel extends Box {
  reference: Reference;
  row: number;
}

interface Sheet {
  width: number;
  height: number;
  unit: number;
  random: Random;
  gradients: Gradients;
  /** The ground under billboards. Without it the panels float. */
  floor: number | undefined;
  shade: string;
}

const mostBillboards = 3;
/** Very long images are cropped to this aspect, so that every panel stays recognisable. */
const clamped = (aspect: number): number => Math.min(2.2, Math.max(0.5, aspect));

export function layOutPanels(sheet: Pick<Sheet, "width" | "height">, references: readonly Reference[]): Panel[] {
  const { width, height } = sheet;
  const count = references.length;
  const standing = count <= mostBillboards;
  const top = height * (standing ? 0.14 : 0.06);
  const region = height * (standing ? 0.46 : count > 5 ? 0.6 : 0.46);
  const usual = references.reduce((sum, { aspect }) => sum + clamped(aspect), 0) / Math.max(1, count);
  const rows = standing ? (height > width && count > 1 ? count : 1) : bestRows(width, region, count, usual);
  const columns = Math.ceil(count / rows);
  return references.map((reference, i) => {
    const row = Math.floor(i / columns);
    const inRow = Math.min(columns, count - row * columns);
    const [slotWidth, slotHeight] = [(width * 0.94) / inRow, region / rows];
    const aspect = clamped(reference.aspect);
    // A single panel leaves one side to the scene.
    const space = [
      count === 1 ? width * 0.46 : slotWidth * 0.84,
      slotHeight * (standing && rows === 1 ? 0.92 : 0.8),
    ] as const;
    const panelHeight = Math.min(space[1], space[0] / aspect);
    const panelWidth = panelHeight * aspect;
    const centre = count === 1 ? width * 0.7 : width * 0.03 + slotWidth * (i - row * columns + 0.5);
    const x = Math.min(width * 0.96 - panelWidth, Math.max(width * 0.04, centre - panelWidth / 2));
    return {
      reference,
      row,
      x,
      y: top + slotHeight * row + (slotHeight - panelHeight) / 2,
      width: panelWidth,
      height: panelHeight,
    };
  });
}

/** The number of rows with the largest panels. */
function bestRows(width: number, region: number, count: number, aspect: number): number {
  const heightOf = (rows: number) => Math.min(width / Math.ceil(count / rows) / aspect, region / rows);
  return [1, 2, 3, 4].reduce((best, rows) => (heightOf(rows) > heightOf(best) ? rows : best), 1);
}

export function paintPanels(sheet: Sheet, panels: readonly Panel[]): string {
  if (panels.length === 0) return "";
  const standing = panels.length <= mostBillboards;
  const supports = standing ? panels.map((panel) => posts(sheet, panel)).join("") : lines(sheet, panels);
  return supports + panels.map((panel, i) => print(sheet, panel, i, standing)).join("");
}

function print({ unit, random, shade }: Sheet, panel: Panel, nth: number, standing: boolean): string {
  const own = random.fork(`panel${nth}`);
  const { x, y, width, height, reference } = panel;
  const mat = unit * (standing ? 1.1 : 0.7);
  const tilt = standing ? 0 : own.range(-2.4, 2.4);
  // A nested svg clips: the image fills its panel and a very long one is cropped on both sides.
  const box = `x="${num(x)}" y="${num(y)}" width="${num(width)}" height="${num(height)}"`;
  const fit = 'width="100%" height="100%" preserveAspectRatio="xMidYMid slice"';
  const image = `<svg ${box}><image href="${reference.href}" ${fit}/></svg>`;
  const frame = mix("#2b2a30", shade, 0.4);
  const content =
    rect(x - mat + unit * 0.5, y - mat + unit * 0.9, width + mat * 2, height + mat * 2, "#05070f", {
      "fill-opacity": 0.3,
      rx: unit * 0.5,
    }) +
    (standing ? rect(x - mat * 1.5, y - mat * 1.5, width + mat * 3, height + mat * 3, frame, { rx: unit * 0.6 }) : "") +
    rect(x - mat, y - mat, width + mat * 2, height + mat * 2, "#fbf8f1", { rx: unit * 0.25 }) +
    image;
  const clip = standing
    ? ""
    : rect(x + width / 2 - unit * 0.55, y - mat - unit * 1.3, unit * 1.1, unit * 2.4, "#c98b4f", { rx: unit * 0.3 });
  return group(`rotate(${num(tilt)} ${num(x + width / 2)} ${num(y)})`, content + clip);
}

/** Two posts down to the ground. */
function posts({ unit, floor, gradients, shade }: Sheet, { x, y, width, height }: Panel): string {
  if (floor === undefined) return "";
  const foot = Math.max(floor, y + height + unit * 3);
  const steel = gradients.linear(
    [
      [0, mix("#8a90a0", shade, 0.35)],
      [1, mix("#3a3f4c", shade, 0.4)],
    ],
    [0, 0, 1, 0],
  );
  return [0.2, 0.8]
    .map((share) => x + width * share)
    .map(
      (px) =>
        ellipse(px, foot, unit * 2.4, unit * 0.5, "#05070f", { "fill-opacity": 0.35 }) +
        rect(px - unit * 0.55, y + height * 0.5, unit * 1.1, foot - y - height * 0.5, steel),
    )
    .join("");
}

function lines({ width, unit }: Sheet, panels: readonly Panel[]): string {
  const rows = new Map<number, number>();
  for (const { row, y } of panels) rows.set(row, Math.min(y, rows.get(row) ?? Number.POSITIVE_INFINITY));
  return [...rows.values()]
    .map((y) => {
      const at = y - unit * 0.8;
      const d = `M${num(-unit)} ${num(at - unit * 2.2)}Q${num(width / 2)} ${num(at + unit * 1.6)} ${num(width + unit)} ${num(at - unit * 2.2)}`;
      return stroke(d, "#2a2430", unit * 0.28, { "stroke-opacity": 0.85 });
    })
    .join("");
}
