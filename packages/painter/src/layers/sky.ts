import { mix } from "../colour.ts";
import { hasWeather } from "../palette.ts";
import type { Random } from "../random.ts";
import type { Scene } from "../scene.ts";
import { asks, mentionOf } from "../scene.ts";
import { circle, ellipse, num, type Point, path, polyline, rect } from "../svg.ts";
import { paintBodies, paintComets, paintPlanets } from "./celestial.ts";
import { paintAurora, paintRainbow } from "./sky-weather.ts";

export function paintSky(scene: Scene): string {
  const { width, height, palette, gradients, ground } = scene;
  const [top, upper, lower, bottom] = palette.sky;
  const fill =
    ground === "void"
      ? gradients.linear([
          [0, top],
          [0.55, upper],
          [1, mix(upper, lower, 0.6)],
        ])
      : gradients.linear([
          [0, top],
          [0.38, upper],
          [0.76, lower],
          [1, bottom],
        ]);
  const deep = ground === "void" ? height : scene.horizon + height * 0.02;
  const parts = [rect(0, 0, width, deep, fill)];
  if (asks(scene.reading, "space")) parts.push(nebula(scene));
  if (palette.starlight > 0 || asks(scene.reading, "star")) parts.push(stars(scene));
  if (hasWeather(scene.reading, "aurora")) parts.push(paintAurora(scene));
  parts.push(paintBodies(scene), paintPlanets(scene), paintComets(scene));
  if (hasWeather(scene.reading, "rainbow")) parts.push(paintRainbow(scene));
  parts.push(clouds(scene));
  return parts.join("");
}

function nebula({ width, height, gradients, palette, random }: Scene): string {
  const own = random.fork("nebula");
  return Array.from({ length: 7 }, () => {
    const colour = own.pick([palette.accents[0], palette.accents[1] ?? palette.light, "#6f5bd0", "#2f8fc0"]);
    const fill = gradients.radial([
      [0, colour, own.range(0.4, 0.62)],
      [0.5, colour, 0.18],
      [1, colour, 0],
    ]);
    const [x, y] = [own.range(0, width), own.range(0, height)];
    return ellipse(x, y, width * own.range(0.25, 0.5), height * own.range(0.15, 0.35), fill, {
      transform: `rotate(${num(own.range(-40, 40))} ${num(x)} ${num(y)})`,
    });
  }).join("");
}

function stars(scene: Scene): string {
  const own = scene.random.fork("stars");
  const named = mentionOf(scene.reading, "star");
  const strength = Math.max(scene.palette.starlight, named ? 0.8 : 0);
  const count =
    Math.round((scene.detailed ? 260 : 130) * strength * (scene.ground === "void" ? 2.2 : 1)) + (named?.count ?? 0);
  const colour = named?.colours[0] ?? "#fff6e0";
  const reach = scene.ground === "void" ? scene.height : scene.horizon * 0.92;
  const parts: string[] = [];
  for (let i = 0; i < count; i++) {
    const y = reach * own.next() ** 1.3;
    const opacity = strength * own.range(0.35, 1) * (scene.ground === "void" ? 1 : 1 - (y / reach) * 0.75);
    const big = own.chance(named ? 0.1 : 0.035);
    const size = scene.unit * (big ? own.range(0.5, 0.95) : own.range(0.07, 0.2));
    const x = own.range(0, scene.width);
    parts.push(
      big
        ? path(spark(x, y, size), colour, { "fill-opacity": opacity })
        : circle(x, y, size, colour, { "fill-opacity": opacity }),
    );
  }
  return parts.join("");
}

/** A four-pointed star with hollow sides. */
function spark(x: number, y: number, r: number): string {
  const q = r * 0.12;
  const points: Point[] = [
    [x, y - r],
    [x + q, y - q],
    [x + r, y],
    [x + q, y + q],
    [x, y + r],
    [x - q, y + q],
    [x - r, y],
    [x - q, y - q],
  ];
  return `${polyline(points)}Z`;
}

function clouds(scene: Scene): string {
  const { reading, palette, random, gradients, width, horizon, unit } = scene;
  if (scene.ground === "void") return "";
  const own = random.fork("clouds");
  const mention = mentionOf(reading, "cloud");
  const heavy = hasWeather(reading, "rain", "storm", "overcast");
  const count = (mention?.count ?? 0) + (heavy ? 9 : 0) + (scene.detailed && !mention ? own.int(3, 5) : 0);
  const base = mention?.colours[0] ?? (heavy ? "#76808f" : "#ffffff");
  const parts: string[] = [];
  for (let i = 0; i < count; i++) {
    const y = horizon * (heavy ? own.range(0.04, 0.42) : own.range(0.1, 0.72));
    const far = y / horizon;
    const breadth = unit * own.range(18, 40) * (1.25 - far * 0.75) * (mention?.scale ?? 1) * (heavy ? 1.5 : 1);
    const x = width * ((i + own.range(0.1, 0.9)) / count);
    const body = mix(mix(base, palette.shade, palette.dim * 1.1), palette.sky[2], 0.22);
    const fill = gradients.linear([
      [0, mix(body, palette.light, heavy ? 0.12 : 0.45), 0.96],
      [0.6, body, 0.86],
      [1, mix(body, palette.sky[3], 0.6), 0.3],
    ]);
    parts.push(path(cumulus(own, x, y, breadth), fill, { "fill-opacity": heavy ? 0.94 : mention ? 0.95 : 0.8 }));
  }
  return parts.join("");
}

/** A flat base with a heap of bumps on it, tallest in the middle. */
function cumulus(own: Random, x: number, base: number, breadth: number): string {
  const bumps = own.int(5, 8);
  const points: Point[] = [];
  let at = x - breadth / 2;
  let d = `M${num(at)} ${num(base)}`;
  for (let i = 0; i < bumps; i++) {
    const share = (breadth / bumps) * own.range(0.75, 1.3);
    const middle = 1 - Math.abs((i + 0.5) / bumps - 0.5) * 2;
    const lift = base - breadth * 0.22 * middle * own.range(0.6, 1.1);
    const nextY = i === bumps - 1 ? base : lift;
    const r = share * own.range(0.55, 0.75);
    at += share;
    d += `A${num(r)} ${num(r)} 0 0 1 ${num(at)} ${num(nextY)}`;
    points.push([at, nextY]);
  }
  return `${d}Q${num(at + breadth * 0.06)} ${num(base + breadth * 0.03)} ${num(x)} ${num(base + breadth * 0.035)}Q${num(x - breadth * 0.56)} ${num(base + breadth * 0.03)} ${num(x - breadth / 2)} ${num(base)}Z`;
}
