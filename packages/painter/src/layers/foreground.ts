import { darken, lighten, mix } from "../colour.ts";
import { hasWeather, seen } from "../palette.ts";
import type { Random } from "../random.ts";
import { createBrush, mentionOf, type Scene } from "../scene.ts";
import { paintFlower, paintMushroom } from "../subjects/plants.ts";
import { circle, ellipse, group, num, path, polygon, rect, stroke } from "../svg.ts";
import { hillLine, hillShape } from "./mountains.ts";

/** A shore in front of the water, for subjects on land. */
export function paintShore(scene: Scene): string {
  const own = scene.random.fork("shore");
  const { palette, gradients, height, unit } = scene;
  const sand = seen(palette, lighten(palette.sand, 0.15), 0.1);
  const turf = seen(palette, palette.grass, 0.02);
  const line = hillLine(scene, own, height * 0.83, unit * 1.6);
  const upper = line.map(([x, y], i): [number, number] => [x, y + unit * (2.4 + Math.sin(i) * 0.5)]);
  return (
    path(
      hillShape(
        scene,
        line.map(([x, y]): [number, number] => [x, y - unit * 0.7]),
      ),
      "#ffffff",
      { "fill-opacity": 0.45 },
    ) +
    path(hillShape(scene, line), sand) +
    path(
      hillShape(scene, upper),
      gradients.linear([
        [0, lighten(turf, 0.08)],
        [1, darken(turf, 0.35)],
      ]),
    )
  );
}

/** Flowers and mushrooms of the prompt, in front of everything else along the lower edge. */
export function paintMeadowThings(scene: Scene): string {
  const parts: string[] = [];
  for (const mention of scene.reading.mentions) {
    if (mention.subject !== "flower" && mention.subject !== "mushroom") continue;
    const own = scene.random.fork(`meadow-${mention.subject}`);
    const tall =
      (mention.subject === "flower" ? 24 : 14) * scene.unit * mention.scale * (mention.count === 1 ? 2.2 : 1);
    const list = Array.from({ length: mention.count }, (_, nth) => ({ nth, back: own.next() })).toSorted(
      (a, b) => b.back - a.back,
    );
    for (const { nth, back } of list) {
      const spread = mention.count === 1 ? (mention.side ?? 0.5) : (nth + own.range(0.15, 0.85)) / mention.count;
      const x = (mention.side && mention.count > 1 ? mention.side + (spread - 0.5) * 0.4 : spread) * scene.width;
      const y = scene.height * (mention.count === 1 ? 0.93 : 1.03 - back * 0.11);
      const brush = createBrush(scene, mention, x, back * 0.12, own.fork(String(nth)), nth);
      const markup = mention.subject === "flower" ? paintFlower(brush) : paintMushroom(brush);
      parts.push(
        group(`translate(${num(x)} ${num(y)}) scale(${((tall * (1 - back * 0.4)) / 100).toFixed(4)})`, markup),
      );
    }
  }
  return parts.join("");
}

/** Distant flowers of a meadow as dots, behind other things. */
export function paintCarpet({ width, height, horizon, unit, palette, detailed, reading, random }: Scene): string {
  const mention = reading.mentions.find(({ subject, count }) => subject === "flower" && count > 1);
  if (!mention) return "";
  const own = random.fork("carpet");
  const colours = mention.colours.length > 0 ? mention.colours : palette.accents;
  return Array.from({ length: detailed ? 220 : 90 }, () => {
    const near = own.next() ** 0.7;
    const tint = colours[own.int(0, colours.length - 1)] ?? palette.accents[0];
    const r = unit * (0.14 + near * 0.5);
    const y = horizon + (height - horizon) * (0.2 + near * 0.76);
    return ellipse(own.next() * width, y, r, r * 0.8, seen(palette, tint, 0.35 * (1 - near)));
  }).join("");
}

/** Grass or stones along the lower edge, which give the picture a foreground. */
export function paintFraming(scene: Scene): string {
  const own = scene.random.fork("framing");
  if (scene.ground === "land") return blades(scene, own);
  if (scene.ground === "desert") return stones(scene, own);
  return "";
}

function blades(scene: Scene, own: Random): string {
  const { width, height, unit, palette } = scene;
  const colour = mentionOf(scene.reading, "hill")?.colours[0] ?? palette.grass;
  const shades = [darken(seen(palette, colour, 0), 0.42), darken(seen(palette, colour, 0), 0.58)];
  const shapes = ["", ""];
  const count = Math.round((width / unit) * 1.1);
  for (let i = 0; i < count; i++) {
    const x = own.range(-0.02, 1.02) * width;
    // Higher towards the sides, like a frame.
    const edge = Math.abs(x / width - 0.5) * 2;
    const tall = unit * own.range(2, 5) * (0.55 + edge ** 2 * 1.9);
    const [bend, broad] = [own.range(-1.4, 1.4) * unit, unit * own.range(0.22, 0.42)];
    shapes[i % 2] +=
      `M${num(x - broad)} ${num(height + 2)}Q${num(x)} ${num(height - tall * 0.6)} ${num(x + bend)} ${num(height - tall)}Q${num(x + broad * 1.2)} ${num(height - tall * 0.5)} ${num(x + broad)} ${num(height + 2)}Z`;
  }
  const wild = Array.from({ length: palette.snowy ? 0 : 16 }, () => {
    const x = own.chance(0.5) ? own.range(0, 0.3) * width : own.range(0.7, 1) * width;
    const [y, r] = [height - unit * own.range(2, 7.5), unit * own.range(0.3, 0.65)];
    const bloom = seen(palette, palette.accents[own.int(0, palette.accents.length - 1)] ?? "#ffd166", 0);
    return (
      stroke(
        `M${num(x)} ${height}Q${num(x + unit)} ${num(y + unit * 2)} ${num(x)} ${num(y)}`,
        shades[0] ?? "#22331f",
        unit * 0.16,
      ) +
      circle(x, y, r, bloom) +
      circle(x, y, r * 0.4, seen(palette, "#fff0b0", 0))
    );
  }).join("");
  return shapes.map((d, i) => path(d, shades[i] ?? "#1c2a1c")).join("") + wild;
}

function stones(scene: Scene, own: Random): string {
  const { width, height, unit, palette } = scene;
  return Array.from({ length: 9 }, () => {
    const [x, y, r] = [own.next() * width, height - own.range(0, 8) * unit, unit * own.range(0.8, 2.6)];
    const body = seen(palette, mix("#8a6a55", palette.shade, 0.25), 0);
    const points: [number, number][] = [
      [x - r, y],
      [x - r * 0.7, y - r * 0.6],
      [x, y - r * 0.85],
      [x + r * 0.8, y - r * 0.5],
      [x + r * 1.1, y],
    ];
    return (
      polygon(points, body) +
      polygon([points[1] ?? [x, y], points[2] ?? [x, y], [x + r * 0.1, y - r * 0.3]], lighten(body, 0.25))
    );
  }).join("");
}

/** Banks of fog over the land, behind other things. */
export function paintFog({ width, height, horizon, palette, gradients, reading }: Scene): string {
  if (!hasWeather(reading, "fog")) return "";
  return Array.from({ length: 4 }, (_, i) => {
    const y = horizon - height * 0.16 + i * height * 0.09;
    return rect(
      0,
      y,
      width,
      height * 0.24,
      gradients.linear([
        [0, palette.haze, 0],
        [0.5, palette.haze, 0.42],
        [1, palette.haze, 0],
      ]),
    );
  }).join("");
}

/** Rain and snow in front of the scene. */
export function paintAir(scene: Scene): string {
  const { width, height, palette, unit, reading } = scene;
  const own = scene.random.fork("air");
  const parts: string[] = [];
  if (hasWeather(reading, "rain", "storm")) {
    let d = "";
    for (let i = 0; i < (scene.detailed ? 420 : 240); i++) {
      const [x, y, long] = [own.range(-0.1, 1.1) * width, own.range(-0.05, 1) * height, unit * own.range(2, 5.5)];
      d += `M${num(x)} ${num(y)}l${num(-long * 0.22)} ${num(long)}`;
    }
    parts.push(stroke(d, "#e6f1ff", unit * 0.13, { "stroke-opacity": 0.5 }));
  }
  if (palette.snowy) {
    const flakes = Array.from({ length: scene.detailed ? 260 : 150 }, () => {
      const size = own.next() ** 3;
      return circle(own.next() * width, own.next() * height, unit * (0.12 + size * 0.62), "#ffffff", {
        "fill-opacity": 0.5 + own.next() * 0.45,
      });
    });
    parts.push(flakes.join(""));
  }
  return parts.join("");
}

/** Shafts of light from a low sun. */
export function paintRays(scene: Scene): string {
  const { sun, palette, gradients, width, height } = scene;
  if (!["dawn", "golden", "sunset"].includes(palette.time) || scene.ground === "void") return "";
  const own = scene.random.fork("rays");
  const reach = Math.hypot(width, height) * 0.8;
  const fill = gradients.radial([
    [0, palette.light, 0.3],
    [0.5, palette.light, 0.1],
    [1, palette.light, 0],
  ]);
  let d = "";
  for (let i = 0; i < 9; i++) {
    const angle = own.range(0, 6.283);
    const half = own.range(0.02, 0.06);
    const at = (a: number) => `${num(sun.x + Math.cos(a) * reach)} ${num(sun.y + Math.sin(a) * reach)}`;
    d += `M${num(sun.x)} ${num(sun.y)}L${at(angle - half)}L${at(angle + half)}Z`;
  }
  return path(d, fill, { "fill-opacity": 0.55 });
}
