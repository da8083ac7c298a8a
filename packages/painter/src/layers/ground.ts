import { darken, lighten, mix } from "../colour.ts";
import { seen } from "../palette.ts";
import type { Random } from "../random.ts";
import type { Scene } from "../scene.ts";
import { mentionOf } from "../scene.ts";
import { ellipse, num, type Point, path, rect, smooth, stroke } from "../svg.ts";
import { hillLine, hillShape } from "./mountains.ts";

export function paintGround(scene: Scene): string {
  if (scene.ground === "void") return "";
  if (scene.ground === "water") return paintWater(scene);
  return scene.ground === "desert" ? paintDunes(scene) : paintMeadow(scene);
}

function paintMeadow(scene: Scene): string {
  const { horizon, height, palette, gradients, random } = scene;
  const colour = mentionOf(scene.reading, "hill")?.colours[0] ?? palette.grass;
  const parts: string[] = [];
  const layers = 4;
  for (let i = 0; i < layers; i++) {
    const own = random.fork(`hill${i}`);
    const near = i / (layers - 1);
    const base = horizon + (height - horizon) * (near ** 1.4 * 0.62) - (i === 0 ? 2 : 0);
    const swing = i === 0 ? scene.unit * 0.7 : (height - horizon) * 0.05;
    const tint = mix(colour, darken(colour, 0.5), near * 0.42);
    const top = seen(palette, lighten(tint, 0.16), 0.4 * (1 - near));
    const low = seen(palette, darken(tint, 0.22), 0.22 * (1 - near));
    const line = hillLine(scene, own, base, swing);
    parts.push(
      path(
        hillShape(scene, line),
        gradients.linear([
          [0, top],
          [0.35, mix(top, low, 0.45)],
          [1, low],
        ]),
      ),
    );
    if (scene.detailed) parts.push(tufts(scene, own, line, near, top, low));
  }
  return parts.join("");
}

/** Short strokes of lighter and darker grass give the fill a texture. */
function tufts(scene: Scene, own: Random, line: readonly Point[], near: number, top: string, low: string): string {
  const light: string[] = [];
  const dark: string[] = [];
  const count = 40 + Math.round(near * 110);
  for (let i = 0; i < count; i++) {
    const [x, y] = line[own.int(0, line.length - 1)] ?? [0, 0];
    const px = x + own.range(-0.03, 0.03) * scene.width;
    const py = y + own.next() ** 0.8 * (scene.height - y) * 0.6 + scene.unit;
    const long = scene.unit * (0.5 + near * 1.1) * own.range(0.6, 1.5);
    (i % 2 ? light : dark).push(
      `M${num(px)} ${num(py)}q${num(long * 0.1)} ${num(-long * 0.6)} ${num(long * own.range(-0.4, 0.5))} ${num(-long)}`,
    );
  }
  const width = scene.unit * (0.1 + near * 0.12);
  return (
    stroke(light.join(""), lighten(top, 0.22), width, { "stroke-opacity": 0.55 }) +
    stroke(dark.join(""), darken(low, 0.25), width, { "stroke-opacity": 0.4 })
  );
}

function paintDunes(scene: Scene): string {
  const { horizon, height, palette, gradients, random, unit } = scene;
  const colour = mentionOf(scene.reading, "desert")?.colours[0] ?? palette.sand;
  const parts: string[] = [];
  for (let i = 0; i < 5; i++) {
    const own = random.fork(`dune${i}`);
    const near = i / 4;
    const base = horizon + (height - horizon) * (near * 0.7) - unit * (1 - near) * 3;
    const line = hillLine(scene, own, base, unit * (1.6 + near * 4));
    const lit = seen(palette, lighten(colour, 0.12 - near * 0.1), 0.4 * (1 - near));
    const dark = seen(palette, mix(colour, "#7a4a3a", 0.5), 0.4 * (1 - near));
    parts.push(
      path(
        hillShape(scene, line),
        gradients.linear([
          [0, lit],
          [0.5, mix(lit, dark, 0.5)],
          [1, dark],
        ]),
      ),
    );
    // The lee side is a second, steeper line in shade under each crest.
    const lee = line.map(([x, y], k): Point => [x, y + unit * (1 + near * 3) * (1 + Math.sin(k * 0.9 + i))]);
    parts.push(path(`${smooth(line)}L${smooth(lee.toReversed()).slice(1)}Z`, dark, { "fill-opacity": 0.35 }));
    if (!scene.detailed) continue;
    for (let r = 1; r < 6; r++) {
      const ripple = line.map(
        ([x, y], k): Point => [x, y + unit * r * (1.4 + near * 2) + Math.sin(k * 1.7 + r) * unit * 0.4],
      );
      parts.push(stroke(smooth(ripple), lit, unit * 0.12, { "stroke-opacity": 0.3 }));
    }
  }
  return parts.join("");
}

function paintWater(scene: Scene): string {
  const { width, height, horizon, palette, gradients, random, unit, sun } = scene;
  const own = random.fork("water");
  const colour = mentionOf(scene.reading, "sea")?.colours[0] ?? palette.water;
  const deep = seen(palette, darken(colour, 0.3), 0);
  const shallow = mix(seen(palette, colour, 0.2), palette.sky[2], 0.3);
  const surface = gradients.linear([
    [0, mix(shallow, palette.sky[3], 0.62)],
    [0.14, shallow],
    [0.55, mix(shallow, deep, 0.7)],
    [1, deep],
  ]);
  const parts = [rect(0, horizon, width, height - horizon, surface)];
  const rows = scene.detailed ? 34 : 16;
  for (let i = 0; i < rows; i++) {
    const t = ((i + own.next()) / rows) ** 1.6;
    const y = horizon + (height - horizon) * t;
    const strokes = own.int(2, 5);
    const thick = unit * (0.08 + t * 0.42);
    for (let k = 0; k < strokes; k++) {
      const long = unit * (3 + t * 22) * own.range(0.4, 1.2);
      const light = own.chance(0.6);
      parts.push(
        ellipse(own.range(0, width), y, long, thick, light ? mix(shallow, "#ffffff", 0.35) : deep, {
          "fill-opacity": light ? 0.3 : 0.28,
        }),
      );
    }
  }
  if (palette.lampsOn && mentionOf(scene.reading, "city")) parts.push(lampReflections(scene, own));
  // The path of light under sun or moon, breaking up towards the viewer.
  const gleams = scene.detailed ? 60 : 34;
  for (let i = 0; i < gleams; i++) {
    const t = (i / gleams) ** 1.25;
    const y = horizon + (height - horizon) * (0.01 + t * 0.9);
    const spread = unit * (2.4 + t * 15);
    const long = unit * (1.2 + t * 6.5) * own.range(0.35, 1.1);
    parts.push(
      ellipse(sun.x + own.range(-1, 1) * spread * 0.7, y, long, unit * (0.1 + t * 0.38), palette.light, {
        "fill-opacity": 0.75 * (1 - t * 0.78),
      }),
    );
  }
  return parts.join("");
}

/** Reflections of a city's windows on the water. */
function lampReflections({ width, height, horizon, unit, gradients }: Scene, own: Random): string {
  return Array.from({ length: 90 }, () => {
    const tint = own.pick(["#ffd98a", "#ffe9b8", "#ff9d6b", "#9fd0ff"]);
    const long = (height - horizon) * own.range(0.15, 0.7);
    return rect(
      own.next() * width,
      horizon + unit * 1.2,
      unit * own.range(0.2, 0.7),
      long,
      gradients.linear([
        [0, tint, own.pick([0.5, 0.38, 0.26])],
        [1, tint, 0],
      ]),
    );
  }).join("");
}

/** A grid towards the vanishing point, in the style of arcade games of the eighties. */
export function paintGrid({ width, height, horizon, unit, palette, ground, gradients }: Scene): string {
  if (ground !== "land" && ground !== "desert") return "";
  let d = "";
  for (let i = -22; i <= 22; i++)
    d += `M${num(width / 2 + i * unit * 3)} ${num(horizon + unit)}L${num(width / 2 + i * unit * 26)} ${height}`;
  for (let i = 1; i < 13; i++) {
    const y = horizon + unit + (height - horizon) * (i / 12) ** 2.2;
    d += `M0 ${num(y)}H${width}`;
  }
  const fade = gradients.linear([
    [0, palette.accents[1] ?? palette.light, 0.1],
    [1, palette.accents[1] ?? palette.light, 0.75],
  ]);
  return stroke(d, fade, unit * 0.16);
}

/** A road to the vanishing point, or across the picture if something drives on it. */
export function paintRoad(scene: Scene, crosswise: boolean): string {
  const { width, height, horizon, palette, unit, gradients } = scene;
  const colour = mentionOf(scene.reading, "road")?.colours[0] ?? "#4b4f5c";
  const near = seen(palette, colour, 0);
  const line = seen(palette, "#f7e7b0", 0.05);
  if (crosswise) {
    const [top, low] = [height * 0.83, height * 0.965];
    const dashes = Array.from({ length: 14 }, (_, i) =>
      rect((i / 14) * width, (top + low) / 2 - unit * 0.25, width / 26, unit * 0.5, line),
    ).join("");
    return (
      rect(0, top - unit * 0.7, width, low - top + unit * 1.4, seen(palette, "#b9b3a2", 0)) +
      rect(
        0,
        top,
        width,
        low - top,
        gradients.linear([
          [0, lighten(near, 0.1)],
          [1, darken(near, 0.2)],
        ]),
      ) +
      dashes
    );
  }
  const own = scene.random.fork("road");
  const [vx, bend] = [width * own.range(0.42, 0.58), width * own.range(-0.16, 0.16)];
  const at = (t: number, side: number): Point => {
    const grow = t * t;
    return [
      vx +
        bend * Math.sin(t * 3.1) * (1 - t * 0.55) +
        (width * 0.5 - vx) * grow +
        side * (unit * 0.4 + grow * width * 0.25),
      horizon + (height - horizon) * t,
    ];
  };
  const steps = Array.from({ length: 15 }, (_, i) => i / 14);
  const edge = (side: number, from = 0) => steps.map((t) => at(from + t * (1.02 - from), side));
  const surface = `${smooth(edge(-1))}L${smooth(edge(1).toReversed()).slice(1)}Z`;
  const dashes: string[] = [];
  for (let i = 0; i < 12; i++) {
    const [a, b] = [(i / 12) ** 1.5, ((i + 0.5) / 12) ** 1.5];
    const [p, q, r, s] = [at(a, -0.025), at(b, -0.025), at(b, 0.025), at(a, 0.025)];
    dashes.push(
      `M${num(p[0])} ${num(p[1])}L${num(q[0])} ${num(q[1])}L${num(r[0])} ${num(r[1])}L${num(s[0])} ${num(s[1])}Z`,
    );
  }
  return (
    path(
      surface,
      gradients.linear([
        [0, seen(palette, lighten(colour, 0.2), 0.5)],
        [1, darken(near, 0.15)],
      ]),
    ) + path(dashes.join(""), line)
  );
}
