import { lighten } from "../colour.ts";
import { subjects } from "../lexicon.ts";
import type { Placed } from "../placing.ts";
import { createBrush, type Scene } from "../scene.ts";
import { painters } from "../subjects/index.ts";
import { ellipse, group, num, type Point, path, smooth } from "../svg.ts";

/** Paints far things first, with shadows, reflections and the trails of racing flyers. */
export function paintThings(scene: Scene, placed: readonly Placed[]): string {
  const parts = [paintTrails(scene, placed)];
  for (const thing of placed) {
    if (thing.within) continue;
    const [back, front] = paintThing(scene, thing);
    parts.push(paintShadow(scene, thing), back);
    for (const flyer of placed) if (flyer.within === thing) parts.push(...paintThing(scene, flyer));
    parts.push(front);
  }
  return parts.join("");
}

function paintThing(scene: Scene, thing: Placed): [string, string] {
  const { mention, nth, x, y, size, depth } = thing;
  const painter = painters[mention.subject];
  if (!painter) return ["", ""];
  const own = scene.random.fork(`${mention.subject}${nth}`);
  const markup = painter(createBrush(scene, mention, x, thing.within ? depth * 0.35 : depth, own, nth));
  const scale = size / 100;
  const tilt = tiltOf(scene, thing);
  const at = `translate(${num(x)} ${num(y)}) scale(${num(scale * 100) === "0" ? 0.01 : scale.toFixed(4)})${tilt ? ` rotate(${num(tilt)} 0 -50)` : ""}`;
  if (typeof markup !== "string") return [group(at, markup.back), group(at, markup.front)];
  const mirrored =
    scene.ground === "water" && subjects[mention.subject].place === "water" && mention.subject !== "whale";
  const below = `translate(${num(x)} ${num(y + size * 0.05)}) scale(${scale.toFixed(4)} ${(-scale * 0.7).toFixed(4)})`;
  return [(mirrored ? group(below, markup, { opacity: 0.22 }) : "") + group(at, markup), ""];
}

function tiltOf(scene: Scene, { mention, nth, within }: Placed): number {
  const own = scene.random.fork(`tilt${mention.subject}${nth}`);
  const most: Record<string, number> = {
    drone: within ? 7 : 13,
    bird: 14,
    plane: 9,
    rocket: 16,
    butterfly: 35,
    kite: 20,
    balloon: 3,
    ufo: 8,
  };
  const range = most[mention.subject] ?? 0;
  // A rocket leans the way it goes; a plane climbs.
  return mention.subject === "plane" ? -own.range(4, range) : own.range(-range, range);
}

function paintShadow(scene: Scene, { mention, x, y, size, depth }: Placed): string {
  const { place, width } = subjects[mention.subject];
  if (place !== "ground" || mention.subject === "train") return "";
  const away = (x - scene.sun.x) / scene.width;
  const long = size * (scene.palette.time === "day" || scene.palette.time === "morning" ? 0.25 : 0.55);
  const half = Math.max(size * width * 0.42, size * 0.12);
  const fill = scene.gradients.radial([
    [0, scene.palette.shade, 0.62],
    [0.6, scene.palette.shade, 0.32],
    [1, scene.palette.shade, 0],
  ]);
  return ellipse(
    x + away * long * 0.6,
    y + size * 0.012,
    half + Math.abs(away) * long,
    Math.max(size * 0.045, half * 0.14),
    fill,
    { "fill-opacity": 0.9 - depth },
  );
}

/** Ribbons of light behind flyers, through all the gates behind their own. */
function paintTrails(scene: Scene, placed: readonly Placed[]): string {
  const racers = placed.filter(
    ({ within, leads, mention }) => (within || leads) && mention.subject !== "bird" && mention.subject !== "butterfly",
  );
  const gates = placed.filter(({ mention }) => mention.subject === "gate").toSorted((a, b) => a.size - b.size);
  return racers
    .map((racer, i) => {
      const through = racer.within?.size ?? gates.at(-2)?.size ?? 0;
      const behind = gates.filter((gate) => gate.size <= through && gate !== racer.within);
      const start: Point = [scene.width * 0.5 + (i - 1) * scene.unit * 4, scene.horizon - scene.unit * (3 + i * 2)];
      const line: Point[] = [
        start,
        ...behind.map(({ x, y, size }): Point => [x, y - size * 0.55]),
        [racer.x, racer.y - racer.size * 0.5],
      ];
      const colour =
        racer.mention.colours[0] ??
        scene.palette.accents[racer.nth % scene.palette.accents.length] ??
        scene.palette.accents[0];
      const wide = racer.size * 0.34;
      const edge = (side: number) =>
        line.map(([x, y], k): Point => [x, y + side * (0.06 + 0.94 * (k / (line.length - 1)) ** 1.5) * wide * 0.5]);
      const ribbon = (scaleBy: number) => `${smooth(edge(-scaleBy))}L${smooth(edge(scaleBy).toReversed()).slice(1)}Z`;
      const fade = scene.gradients.linear([
        [0, colour, 0.08],
        [0.5, colour, 0.4],
        [1, lighten(colour, 0.3), 0.75],
      ]);
      return path(ribbon(1), fade) + path(ribbon(0.28), lighten(colour, 0.6), { "fill-opacity": 0.7 });
    })
    .join("");
}
