import { darken, lighten, mix } from "../colour.ts";
import { seen } from "../palette.ts";
import type { Random } from "../random.ts";
import type { Scene } from "../scene.ts";
import { mentionOf } from "../scene.ts";
import { num, path, rect } from "../svg.ts";

/** Each distant row is one path, so that a thousand trees stay cheap. */
export function paintForest(scene: Scene): string {
  const mention = mentionOf(scene.reading, "forest");
  if (!mention) return "";
  const rows = scene.detailed ? 5 : 3;
  return Array.from({ length: rows }, (_, i) => {
    const near = i / (rows - 1);
    return treeLine(scene, scene.random.fork(`trees${i}`), near, mention.colours[0] ?? scene.palette.foliage);
  }).join("");
}

/** Clumps of distant trees and bushes fill an empty field. */
export function paintFarTrees({ width, horizon, unit, palette, random }: Scene): string {
  const own = random.fork("far-trees");
  const foot = horizon + unit;
  let d = "";
  for (let x = -unit * 2; x < width; x += unit * (own.chance(0.16) ? own.range(5, 12) : own.range(0.5, 1.4))) {
    const r = unit * own.range(0.6, 1.7);
    const lift = r * own.range(0.2, 0.8);
    d += `M${num(x - r)} ${num(foot)}V${num(foot - lift)}A${num(r)} ${num(r)} 0 0 1 ${num(x + r)} ${num(foot - lift)}V${num(foot)}Z`;
  }
  return path(d, seen(palette, darken(palette.foliage, 0.15), 0.5));
}

function treeLine(scene: Scene, own: Random, near: number, colour: string): string {
  const { width, height, horizon, unit, palette, gradients } = scene;
  const foot = horizon + unit * 0.5 + (height - horizon) * 0.34 * near ** 1.5;
  const tall = unit * (9 + near * 17);
  const depth = 0.72 - near * 0.56;
  let lit = "";
  let dark = "";
  for (let x = -tall * 0.2; x < width + tall * 0.2; x += tall * own.range(0.16, 0.34)) {
    const h = tall * own.range(0.6, 1.12);
    const base = foot + own.range(0, unit * (0.6 + near));
    lit += conifer(x, base, h, -1);
    dark += conifer(x, base, h, 1);
  }
  const body = seen(palette, mix(colour, darken(colour, 0.3), near), depth);
  const top = seen(palette, lighten(colour, palette.snowy ? 0.6 : 0.14), depth);
  const mist = gradients.linear([
    [0, palette.haze, 0],
    [1, palette.haze, 0.62 * (1 - near)],
  ]);
  return path(lit, top) + path(dark, darken(body, 0.14)) + rect(0, foot - tall * 0.8, width, tall * 0.8 + unit, mist);
}

/** Half a conifer: three tiers of boughs on one side of the stem. */
function conifer(x: number, foot: number, h: number, side: -1 | 1): string {
  const w = h * 0.21 * side;
  const y = (t: number) => num(foot - h * t);
  return `M${num(x)} ${y(1)}L${num(x + w * 0.5)} ${y(0.66)}L${num(x + w * 0.24)} ${y(0.68)}L${num(x + w * 0.8)} ${y(0.36)}L${num(x + w * 0.4)} ${y(0.39)}L${num(x + w)} ${y(0.02)}H${num(x)}Z`;
}
