import { lighten, mix, shift } from "../colour.ts";
import { hasWeather } from "../palette.ts";
import type { Random } from "../random.ts";
import type { Scene } from "../scene.ts";
import { asks, mentionOf } from "../scene.ts";
import { circle, ellipse, group, num, path, polyline, rect, smooth, stroke, type Point } from "../svg.ts";

export function paintSky(scene: Scene): string {
  const { width, height, palette, gradients, ground } = scene;
  const [top, upper, lower, bottom] = palette.sky;
  const fill =
    ground === "void"
      ? gradients.linear([[0, top], [0.55, upper], [1, mix(upper, lower, 0.6)]])
      : gradients.linear([[0, top], [0.38, upper], [0.76, lower], [1, bottom]]);
  const deep = ground === "void" ? height : scene.horizon + height * 0.02;
  const parts = [rect(0, 0, width, deep, fill)];
  if (ground === "void") parts.push(nebula(scene));
  if (palette.starlight > 0 || asks(scene.reading, "star")) parts.push(stars(scene));
  if (hasWeather(scene.reading, "aurora")) parts.push(aurora(scene));
  parts.push(bodies(scene), planets(scene), comets(scene));
  if (hasWeather(scene.reading, "rainbow")) parts.push(rainbow(scene));
  parts.push(clouds(scene));
  return parts.join("");
}

function nebula({ width, height, gradients, palette, random }: Scene): string {
  const own = random.fork("nebula");
  return Array.from({ length: 7 }, () => {
    const colour = own.pick([palette.accents[0], palette.accents[1] ?? palette.light, "#6f5bd0", "#2f8fc0"]);
    const fill = gradients.radial([[0, colour, own.range(0.4, 0.62)], [0.5, colour, 0.18], [1, colour, 0]]);
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
  const count = Math.round((scene.detailed ? 260 : 130) * strength * (scene.ground === "void" ? 2.2 : 1)) + (named?.count ?? 0);
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
  const points: Point[] = [[x, y - r], [x + q, y - q], [x + r, y], [x + q, y + q], [x, y + r], [x - q, y + q], [x - r, y], [x - q, y - q]];
  return `${polyline(points)}Z`;
}

function bodies(scene: Scene): string {
  const { reading, palette, gradients, sun, width } = scene;
  const parts: string[] = [];
  const veiled = hasWeather(reading, "rain", "storm", "overcast") && !asks(reading, "sun", "moon");
  const night = palette.time === "night" || (palette.time === "dusk" && asks(reading, "moon"));
  const glow = gradients.radial([[0, palette.light, 0.75], [0.18, palette.light, 0.38], [0.5, palette.light, 0.1], [1, palette.light, 0]]);
  const spread = Math.max(width, scene.height) * (night ? 0.36 : 0.55);
  parts.push(circle(sun.x, sun.y, spread, glow, { "fill-opacity": veiled ? 0.35 : 1 }));
  if (veiled || (scene.ground === "void" && !asks(reading, "sun", "moon"))) return veiled ? parts.join("") : "";
  const wanted = reading.mentions.filter(({ subject }) => subject === "sun" || subject === "moon");
  const list = wanted.length > 0 ? wanted : [{ subject: night ? "moon" : "sun", count: 1, colours: [], scale: 1 } as const];
  let nth = 0;
  for (const mention of list) {
    for (let i = 0; i < mention.count; i++, nth++) {
      const side = nth % 2 === 1 ? -1 : 1;
      const x = nth === 0 ? sun.x : sun.x + side * width * (0.2 + 0.1 * nth) * (sun.x > width / 2 ? -1 : 1);
      const y = nth === 0 ? sun.y : sun.y * (0.55 + 0.12 * nth);
      const r = sun.radius * mention.scale * (nth === 0 ? 1 : 0.72);
      const colour = mention.colours[i % Math.max(1, mention.colours.length)];
      parts.push(mention.subject === "moon" ? moon(scene, x, y, r, colour) : sunDisc(scene, x, y, r, colour));
    }
  }
  return parts.join("");
}

function sunDisc({ gradients, palette }: Scene, x: number, y: number, r: number, colour?: string): string {
  const own = colour ?? mix(palette.light, "#fff6d8", 0.45);
  const halo = gradients.radial([[0.4, own, 0.55], [1, own, 0]]);
  const disc = gradients.linear([[0, lighten(own, 0.5)], [1, mix(own, palette.sky[2], colour ? 0.1 : 0.28)]]);
  return circle(x, y, r * 2.1, halo) + circle(x, y, r, disc);
}

function moon({ gradients, random }: Scene, x: number, y: number, r: number, colour = "#f4f0df"): string {
  const own = random.fork("moon");
  const disc = gradients.radial([[0, lighten(colour, 0.35)], [0.7, colour], [1, mix(colour, "#8e9ab8", 0.4)]], [0.38, 0.36], 0.75);
  const halo = gradients.radial([[0.35, colour, 0.35], [1, colour, 0]]);
  const craters = Array.from({ length: 7 }, () => {
    const [angle, far] = [own.range(0, 6.28), own.range(0.1, 0.72) * r];
    const size = r * own.range(0.06, 0.17);
    return circle(x + Math.cos(angle) * far, y + Math.sin(angle) * far, size, mix(colour, "#8a93ad", 0.5), { "fill-opacity": 0.4 });
  }).join("");
  return circle(x, y, r * 2.4, halo) + circle(x, y, r, disc) + craters;
}

function planets(scene: Scene): string {
  const mention = mentionOf(scene.reading, "planet");
  if (!mention) return "";
  const own = scene.random.fork("planets");
  const main = own.pick([0.26, 0.74]);
  return Array.from({ length: mention.count }, (_, i) => {
    const r = scene.unit * (i === 0 ? 17 : own.range(4, 9)) * mention.scale;
    // The large one on one side, the small ones strung out over the other.
    const x = (mention.side ?? (i === 0 ? main : 1 - main + (i - (mention.count / 2)) * 0.19 + own.range(-0.04, 0.04))) * scene.width;
    const y = (i === 0 ? 0.3 : own.range(0.1, 0.62)) * scene.horizon;
    return planet(scene, own, x, y, r, mention.colours[i % Math.max(1, mention.colours.length)] ?? own.pick(["#d98d5f", "#6fa8c9", "#c77fa0", "#d9bd7a"]), i === 0);
  }).join("");
}

function planet({ gradients }: Scene, own: Random, x: number, y: number, r: number, colour: string, ringed: boolean): string {
  const ball = gradients.radial([[0, lighten(colour, 0.4)], [0.55, colour], [1, mix(colour, "#0b0f24", 0.75)]], [0.35, 0.32], 0.8);
  const bands = Array.from({ length: 4 }, (_, i) => {
    const at = -0.6 + i * 0.38 + own.range(-0.08, 0.08);
    const half = Math.sqrt(1 - at * at) * r * 0.97;
    return ellipse(x, y + at * r, half, r * own.range(0.04, 0.1), shift(colour, { light: -0.09, hue: 18 }), { "fill-opacity": 0.35 });
  }).join("");
  const body = circle(x, y, r, ball) + bands;
  if (!ringed) return body;
  const ring = (from: number) =>
    [1.55, 1.75, 1.92]
      .map((k, i) => stroke(`M${num(-r * k)} 0A${num(r * k)} ${num(r * k * 0.24)} 0 0 ${from} ${num(r * k)} 0`, lighten(colour, 0.3 + i * 0.15), r * 0.1, { "stroke-opacity": 0.8 - i * 0.2, "stroke-linecap": "butt" }))
      .join("");
  const tilt = `translate(${num(x)} ${num(y)}) rotate(-16)`;
  return group(tilt, ring(1)) + body + group(tilt, ring(0));
}

function comets(scene: Scene): string {
  const mention = mentionOf(scene.reading, "comet");
  if (!mention) return "";
  const own = scene.random.fork("comets");
  const colour = mention.colours[0] ?? "#fff1d0";
  const tail = scene.gradients.linear([[0, colour, 0], [1, colour, 0.9]], [0, 0, 1, 0]);
  return Array.from({ length: mention.count }, () => {
    const length = scene.unit * own.range(18, 34) * mention.scale;
    const at = `translate(${num(own.range(0.25, 0.95) * scene.width)} ${num(own.range(0.08, 0.6) * scene.horizon)}) rotate(${num(own.range(148, 158))})`;
    return group(at, path(`M${num(-length)} 0Q0 ${num(-scene.unit)} ${num(scene.unit * 0.4)} 0Q0 ${num(scene.unit)} ${num(-length)} 0Z`, tail) + circle(0, 0, scene.unit * 0.75, "#fffdf2"));
  }).join("");
}

function rainbow({ width, horizon, unit }: Scene): string {
  const bands = ["#e8534a", "#f39a3e", "#f7dc57", "#63b96a", "#4a90d9", "#7a5cc0"];
  return bands
    .map((colour, i) => {
      const r = width * 0.46 - i * unit * 1.9;
      return stroke(`M${num(width / 2 - r)} ${num(horizon)}A${num(r)} ${num(Math.min(r, horizon * 0.86 - i * unit * 1.9))} 0 0 1 ${num(width / 2 + r)} ${num(horizon)}`, colour, unit * 2, { "stroke-opacity": 0.42, "stroke-linecap": "butt" });
    })
    .join("");
}

function aurora({ width, horizon, gradients, random, palette }: Scene): string {
  const own = random.fork("aurora");
  const parts: string[] = [];
  for (let band = 0; band < 4; band++) {
    const colour = own.pick(["#4dffb0", "#39d6c0", "#8f7bff", palette.accents[0]]);
    const base = horizon * own.range(0.45, 0.8);
    const [phase, bend] = [own.range(0, 6), own.range(2.2, 4.5)];
    const fill = gradients.linear([[0, colour, 0], [0.75, colour, 0.34], [1, colour, 0.02]]);
    for (let i = 0; i < 46; i++) {
      const t = i / 46;
      const x = width * (t * 1.1 - 0.05);
      const y = base + Math.sin(t * bend * 3 + phase) * horizon * 0.09;
      const tall = horizon * (0.28 + 0.22 * Math.sin(t * 17 + phase * 2) ** 2);
      parts.push(rect(x, y - tall, width * 0.036, tall, fill));
    }
  }
  return parts.join("");
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
    const fill = gradients.linear([[0, mix(body, palette.light, heavy ? 0.12 : 0.45), 0.96], [0.6, body, 0.86], [1, mix(body, palette.sky[3], 0.6), 0.3]]);
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

/** A fork of lightning from the clouds to the horizon. */
export function paintLightning(scene: Scene): string {
  if (!hasWeather(scene.reading, "storm")) return "";
  const own = scene.random.fork("lightning");
  const bolts = Array.from({ length: 2 }, () => {
    const points: Point[] = [[scene.width * own.range(0.15, 0.85), scene.horizon * 0.25]];
    for (let i = 1; i <= 8; i++) {
      const last = points[i - 1] ?? [0, 0];
      points.push([last[0] + own.range(-4, 4) * scene.unit, scene.horizon * (0.25 + 0.1 * i)]);
    }
    const d = polyline(points);
    return stroke(d, "#cfe0ff", scene.unit * 1.6, { "stroke-opacity": 0.25 }) + stroke(d, "#ffffff", scene.unit * 0.4);
  });
  return bolts.join("");
}

/** A faint trail of wind: used where the sky would be empty. */
export function paintWind(scene: Scene): string {
  const own = scene.random.fork("wind");
  return Array.from({ length: 3 }, () => {
    const [x, y] = [own.range(0.05, 0.7) * scene.width, own.range(0.12, 0.6) * scene.horizon];
    const long = own.range(10, 22) * scene.unit;
    const points: Point[] = [[x, y], [x + long * 0.35, y - scene.unit * 0.6], [x + long * 0.7, y + scene.unit * 0.4], [x + long, y]];
    return stroke(smooth(points), scene.palette.light, scene.unit * 0.14, { "stroke-opacity": 0.35 });
  }).join("");
}
