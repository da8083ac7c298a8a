import { lighten, mix, shift } from "../colour.ts";
import { hasWeather } from "../palette.ts";
import type { Random } from "../random.ts";
import type { Scene } from "../scene.ts";
import { asks, mentionOf } from "../scene.ts";
import { circle, ellipse, group, num, path, stroke } from "../svg.ts";

export function paintBodies(scene: Scene): string {
  const { reading, palette, gradients, sun, width } = scene;
  const parts: string[] = [];
  const veiled = hasWeather(reading, "rain", "storm", "overcast") && !asks(reading, "sun", "moon");
  const night = palette.time === "night" || (palette.time === "dusk" && asks(reading, "moon"));
  const glow = gradients.radial([
    [0, palette.light, 0.75],
    [0.18, palette.light, 0.38],
    [0.5, palette.light, 0.1],
    [1, palette.light, 0],
  ]);
  const spread = Math.max(width, scene.height) * (night ? 0.36 : 0.55);
  parts.push(circle(sun.x, sun.y, spread, glow, { "fill-opacity": veiled ? 0.35 : 1 }));
  if (veiled || (scene.ground === "void" && !asks(reading, "sun", "moon"))) return veiled ? parts.join("") : "";
  const wanted = reading.mentions.filter(({ subject }) => subject === "sun" || subject === "moon");
  const list =
    wanted.length > 0 ? wanted : [{ subject: night ? "moon" : "sun", count: 1, colours: [], scale: 1 } as const];
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
  const halo = gradients.radial([
    [0.4, own, 0.55],
    [1, own, 0],
  ]);
  const disc = gradients.linear([
    [0, lighten(own, 0.5)],
    [1, mix(own, palette.sky[2], colour ? 0.1 : 0.28)],
  ]);
  return circle(x, y, r * 2.1, halo) + circle(x, y, r, disc);
}

function moon({ gradients, random }: Scene, x: number, y: number, r: number, colour = "#f4f0df"): string {
  const own = random.fork("moon");
  const disc = gradients.radial(
    [
      [0, lighten(colour, 0.35)],
      [0.7, colour],
      [1, mix(colour, "#8e9ab8", 0.4)],
    ],
    [0.38, 0.36],
    0.75,
  );
  const halo = gradients.radial([
    [0.35, colour, 0.35],
    [1, colour, 0],
  ]);
  const craters = Array.from({ length: 7 }, () => {
    const [angle, far] = [own.range(0, 6.28), own.range(0.1, 0.72) * r];
    const size = r * own.range(0.06, 0.17);
    return circle(x + Math.cos(angle) * far, y + Math.sin(angle) * far, size, mix(colour, "#8a93ad", 0.5), {
      "fill-opacity": 0.4,
    });
  }).join("");
  return circle(x, y, r * 2.4, halo) + circle(x, y, r, disc) + craters;
}

export function paintPlanets(scene: Scene): string {
  const mention = mentionOf(scene.reading, "planet");
  if (!mention) return "";
  const own = scene.random.fork("planets");
  const main = own.pick([0.26, 0.74]);
  return Array.from({ length: mention.count }, (_, i) => {
    const r = scene.unit * (i === 0 ? 17 : own.range(4, 9)) * mention.scale;
    // A large planet on one side, small ones on the other.
    const x =
      (mention.side ?? (i === 0 ? main : 1 - main + (i - mention.count / 2) * 0.19 + own.range(-0.04, 0.04))) *
      scene.width;
    const y = (i === 0 ? 0.3 : own.range(0.1, 0.62)) * scene.horizon;
    return planet(
      scene,
      own,
      x,
      y,
      r,
      mention.colours[i % Math.max(1, mention.colours.length)] ??
        own.pick(["#d98d5f", "#6fa8c9", "#c77fa0", "#d9bd7a"]),
      i === 0,
    );
  }).join("");
}

function planet(
  { gradients }: Scene,
  own: Random,
  x: number,
  y: number,
  r: number,
  colour: string,
  ringed: boolean,
): string {
  const ball = gradients.radial(
    [
      [0, lighten(colour, 0.4)],
      [0.55, colour],
      [1, mix(colour, "#0b0f24", 0.75)],
    ],
    [0.35, 0.32],
    0.8,
  );
  const bands = Array.from({ length: 4 }, (_, i) => {
    const at = -0.6 + i * 0.38 + own.range(-0.08, 0.08);
    const half = Math.sqrt(1 - at * at) * r * 0.97;
    return ellipse(x, y + at * r, half, r * own.range(0.04, 0.1), shift(colour, { light: -0.09, hue: 18 }), {
      "fill-opacity": 0.35,
    });
  }).join("");
  const body = circle(x, y, r, ball) + bands;
  if (!ringed) return body;
  const ring = (from: number) =>
    [1.55, 1.75, 1.92]
      .map((k, i) =>
        stroke(
          `M${num(-r * k)} 0A${num(r * k)} ${num(r * k * 0.24)} 0 0 ${from} ${num(r * k)} 0`,
          lighten(colour, 0.3 + i * 0.15),
          r * 0.1,
          { "stroke-opacity": 0.8 - i * 0.2, "stroke-linecap": "butt" },
        ),
      )
      .join("");
  const tilt = `translate(${num(x)} ${num(y)}) rotate(-16)`;
  return group(tilt, ring(1)) + body + group(tilt, ring(0));
}

export function paintComets(scene: Scene): string {
  const mention = mentionOf(scene.reading, "comet");
  if (!mention) return "";
  const own = scene.random.fork("comets");
  const colour = mention.colours[0] ?? "#fff1d0";
  const tail = scene.gradients.linear(
    [
      [0, colour, 0],
      [1, colour, 0.9],
    ],
    [0, 0, 1, 0],
  );
  return Array.from({ length: mention.count }, () => {
    const length = scene.unit * own.range(18, 34) * mention.scale;
    const at = `translate(${num(own.range(0.25, 0.95) * scene.width)} ${num(own.range(0.08, 0.6) * scene.horizon)}) rotate(${num(own.range(148, 158))})`;
    return group(
      at,
      path(
        `M${num(-length)} 0Q0 ${num(-scene.unit)} ${num(scene.unit * 0.4)} 0Q0 ${num(scene.unit)} ${num(-length)} 0Z`,
        tail,
      ) + circle(0, 0, scene.unit * 0.75, "#fffdf2"),
    );
  }).join("");
}
