import { mix } from "../colour.ts";
import { seen } from "../palette.ts";
import type { Random } from "../random.ts";
import type { Scene } from "../scene.ts";
import { mentionOf } from "../scene.ts";
import { type Point, path, polygon, polyline, smooth } from "../svg.ts";

/** Distant ridges in the haze. If the prompt has mountains, faceted peaks in front of them. */
export function paintMountains(scene: Scene): string {
  const mention = mentionOf(scene.reading, "mountain");
  const ridges = scene.detailed ? 3 : 2;
  const parts: string[] = [];
  for (let i = 0; i < ridges; i++) {
    const own = scene.random.fork(`ridge${i}`);
    if (mention)
      parts.push(
        ridge(
          scene,
          own,
          0.92 - i * 0.13,
          scene.horizon * 0.34 * (1 - i * 0.16),
          mention.colours[0] ?? scene.palette.rock,
        ),
      );
    else parts.push(farHills(scene, own, 0.86 - i * 0.13, i));
  }
  if (mention) parts.push(peaks(scene, mention.colours[0] ?? scene.palette.rock, mention.scale));
  return parts.join("");
}

function ridge(scene: Scene, own: Random, depth: number, tall: number, colour: string): string {
  const { width, horizon, palette, gradients } = scene;
  let heights = [own.range(0.3, 0.8), own.range(0.3, 1)];
  let jitter = 0.5;
  for (let pass = 0; pass < 7; pass++) {
    const finer: number[] = [];
    for (const [i, a] of heights.entries()) {
      finer.push(a);
      const b = heights[i + 1];
      if (b !== undefined) finer.push((a + b) / 2 + own.range(-jitter, jitter) * 0.5);
    }
    heights = finer;
    jitter *= 0.52;
  }
  const points: Point[] = heights.map((h, i) => [
    (i / (heights.length - 1)) * width,
    horizon - tall * (0.35 + 0.65 * Math.max(0, h)),
  ]);
  const crest = seen(palette, colour, depth);
  const fill = gradients.linear([
    [0, crest],
    [1, mix(crest, palette.haze, 0.75)],
  ]);
  return path(`${polyline(points)}L${width} ${horizon + 4}L0 ${horizon + 4}Z`, fill);
}

/** Blue hills, or a thin coast over the sea, for prompts without mountains. */
function farHills(scene: Scene, own: Random, depth: number, nth: number): string {
  const { horizon, unit, palette, gradients, ground } = scene;
  const lift = ground === "water" ? 1.6 - nth * 0.6 : 10 - nth * 2.8;
  const line = hillLine(scene, own, horizon - unit * lift, unit * (ground === "water" ? 0.5 : 2.1));
  const crest = seen(palette, mix(palette.foliage, palette.rock, ground === "desert" ? 1 : 0.55), depth);
  return path(
    `${smooth(line)}L${scene.width} ${horizon + 4}L0 ${horizon + 4}Z`,
    gradients.linear([
      [0, crest],
      [1, mix(crest, palette.haze, 0.55)],
    ]),
  );
}

function peaks(scene: Scene, colour: string, scale: number): string {
  const { width, horizon, random, unit } = scene;
  const own = random.fork("peaks");
  const count = Math.max(3, Math.round((width / unit / 100) * 4));
  const order = own.shuffle(Array.from({ length: count }, (_, i) => i));
  return order
    .map((slot, rank) => {
      const near = rank / count;
      const tall = horizon * own.range(0.42, 0.68) * (1 - near * 0.42) * Math.min(1.3, scale);
      const x = width * ((slot + own.range(0.25, 0.75)) / count);
      return peak(scene, own, x, tall, 0.52 - near * 0.34, colour);
    })
    .join("");
}

function peak(scene: Scene, own: Random, x: number, tall: number, depth: number, colour: string): string {
  const { horizon, palette, gradients, sun } = scene;
  const half = tall * own.range(0.75, 1.05);
  const lean = own.range(-0.12, 0.12) * half;
  const apex: Point = [x + lean, horizon - tall];
  const flank = (toX: number) => {
    const points: Point[] = [];
    for (let i = 1; i <= 6; i++) {
      const t = i / 6;
      const sag = i < 6 ? own.range(-0.05, 0.05) * tall : 0;
      points.push([apex[0] + (toX - apex[0]) * t ** 1.08 + sag * 0.5, apex[1] + tall * t + sag]);
    }
    return points;
  };
  const left = flank(x - half);
  const right = flank(x + half);
  const spine: Point[] = [0.16, 0.32, 0.5, 0.68, 0.84, 1].map((t, i) => [
    apex[0] + (i % 2 ? 1 : -1) * own.range(0.03, 0.1) * tall * (0.3 + t) - lean * t * 0.6,
    apex[1] + tall * t,
  ]);
  const lit = seen(palette, mix(colour, palette.light, 0.42), depth);
  const dark = seen(palette, mix(colour, palette.shade, 0.5), depth);
  const fade = (c: string) =>
    gradients.linear([
      [0, c],
      [0.5, mix(c, palette.haze, 0.1)],
      [1, mix(c, palette.haze, 0.55)],
    ]);
  const lightLeft = sun.x < apex[0];
  const sideLeft = [apex, ...left, ...spine.toReversed()];
  const sideRight = [apex, ...right, ...spine.toReversed()];
  const parts = [polygon(sideLeft, fade(lightLeft ? lit : dark)), polygon(sideRight, fade(lightLeft ? dark : lit))];
  const snowLine = palette.snowy ? 0.62 : own.range(0.26, 0.38);
  const white = seen(palette, "#fbfdff", depth * 0.55);
  const blue = seen(palette, "#b9cbe4", depth * 0.6);
  parts.push(cap(own, apex, left, spine, snowLine, lightLeft ? white : blue));
  parts.push(cap(own, apex, right, spine, snowLine, lightLeft ? blue : white));
  return parts.join("");
}

/** Snow on one side: down the flank to the snow line, back to the spine in teeth. */
function cap(
  own: Random,
  apex: Point,
  flank: readonly Point[],
  spine: readonly Point[],
  line: number,
  colour: string,
): string {
  const along = (points: readonly Point[], t: number): Point => {
    const all = [apex, ...points];
    const at = Math.min(all.length - 2, Math.floor(t * points.length));
    const [a, b] = [all[at] ?? apex, all[at + 1] ?? apex];
    const rest = t * points.length - at;
    return [a[0] + (b[0] - a[0]) * rest, a[1] + (b[1] - a[1]) * rest];
  };
  const outer = along(flank, line);
  const inner = along(spine, line * 0.92);
  const teeth: Point[] = [];
  for (let i = 1; i < 6; i++) {
    const t = i / 6;
    const drop = (i % 2 ? 0.5 : -0.35) * own.range(0.6, 1) * line * (inner[1] - apex[1]) * 0.9;
    teeth.push([outer[0] + (inner[0] - outer[0]) * t, outer[1] + (inner[1] - outer[1]) * t + drop]);
  }
  const firstFlank = flank.filter(([, y]) => y < outer[1]);
  const firstSpine = spine.filter(([, y]) => y < inner[1]);
  return polygon([apex, ...firstFlank, outer, ...teeth, inner, ...firstSpine.toReversed()], colour);
}

/** A soft line of hills. */
export function hillLine(scene: Scene, own: Random, base: number, swing: number): Point[] {
  const waves = [1, 2.3, 4.1].map((f) => ({ f: f * own.range(0.8, 1.3), phase: own.range(0, 6.28), a: 1 / f }));
  return Array.from({ length: 25 }, (_, i) => {
    const t = i / 24;
    const y = waves.reduce(
      (sum, w) => sum + Math.sin(t * 6.28 * w.f * (scene.width / scene.height) * 0.55 + w.phase) * w.a,
      0,
    );
    return [t * scene.width, base + y * swing];
  });
}

export const hillShape = (scene: Scene, line: readonly Point[]): string =>
  `${smooth(line)}L${scene.width} ${scene.height}L0 ${scene.height}Z`;
