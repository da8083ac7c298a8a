import { darken, lighten, mix } from "../colour.ts";
import { seen } from "../palette.ts";
import type { Random } from "../random.ts";
import type { Scene } from "../scene.ts";
import { mentionOf } from "../scene.ts";
import { circle, num, path, rect, stroke } from "../svg.ts";

/** Rows of buildings, the far ones pale in the haze, the near ones with windows. */
export function paintCity(scene: Scene): string {
  const mention = mentionOf(scene.reading, "city");
  if (!mention) return "";
  const rows = scene.detailed ? 4 : 3;
  const parts: string[] = [];
  for (let i = 0; i < rows; i++) {
    const near = i / (rows - 1);
    parts.push(skyline(scene, scene.random.fork(`city${i}`), near, mention.colours));
  }
  return parts.join("");
}

function skyline(scene: Scene, own: Random, near: number, colours: readonly string[]): string {
  const { width, horizon, unit, palette, gradients } = scene;
  const depth = 0.8 - near * 0.62;
  const parts: string[] = [];
  const foot = horizon + unit * (0.4 + near * 2.2);
  for (let x = -unit * 4; x < width; ) {
    const broad = unit * own.range(4.5, 10) * (0.8 + near * 0.5);
    // Buildings are taller towards the centre of the city.
    const centre = 1 - Math.min(1, Math.abs((x + broad / 2) / width - 0.56) * 1.5);
    const tall = horizon * (0.1 + 0.6 * centre ** 1.4 * own.range(0.3, 1)) * (1 - near * 0.55) + unit * own.range(0, 6);
    const wall =
      colours[own.int(0, Math.max(0, colours.length - 1))] ??
      own.pick(["#5d6b88", "#6e6a8c", "#7d7690", "#4f6483", "#8c7a86"]);
    parts.push(building(scene, own, x, foot, broad, tall, wall, depth));
    x += broad + unit * own.range(0, 1.6);
  }
  parts.push(
    rect(
      0,
      foot - unit * 5,
      width,
      unit * 5.4,
      gradients.linear([
        [0, palette.haze, 0],
        [1, palette.haze, 0.5 * (1 - near * 0.7)],
      ]),
    ),
  );
  return parts.join("");
}

function building(
  scene: Scene,
  own: Random,
  x: number,
  foot: number,
  broad: number,
  tall: number,
  wall: string,
  depth: number,
): string {
  const { palette, gradients, unit } = scene;
  const lit = seen(palette, lighten(wall, 0.12), depth);
  const dark = seen(palette, darken(wall, 0.3), depth);
  const fill = gradients.linear([
    [0, lit],
    [1, mix(dark, palette.haze, 0.25 * depth + 0.08)],
  ]);
  const top = foot - tall;
  const parts = [
    rect(x, top, broad, tall, fill),
    rect(x + broad * 0.7, top, broad * 0.3, tall, dark, { "fill-opacity": 0.5 }),
  ];
  const roof = own.int(0, 4);
  if (roof === 0) parts.push(rect(x + broad * 0.25, top - broad * 0.3, broad * 0.5, broad * 0.31, lit));
  if (roof === 1)
    parts.push(path(`M${num(x)} ${num(top + 1)}L${num(x + broad)} ${num(top - broad * 0.4)}V${num(top + 1)}Z`, lit));
  if (roof === 2) {
    parts.push(rect(x + broad * 0.46, top - broad * 0.9, broad * 0.08, broad * 0.95, dark));
    if (palette.lampsOn) parts.push(circle(x + broad * 0.5, top - broad * 0.9, unit * 0.22, "#ff6a5a"));
  }
  const size = unit * 0.62;
  const [across, down] = [Math.floor((broad - size) / (size * 1.75)), Math.floor((tall - size * 2) / (size * 2.1))];
  const groups: [string, string, string] = ["", "", ""];
  for (let row = 0; row < down; row++) {
    for (let col = 0; col < across; col++) {
      const which = own.chance(palette.lampsOn ? 0.42 : 0.16) ? (own.chance(0.7) ? 0 : 1) : 2;
      if (which === 2 && !scene.detailed) continue;
      const [wx, wy] = [x + size * (0.8 + col * 1.75), top + size * (1.3 + row * 2.1)];
      groups[which] += `M${num(wx)} ${num(wy)}h${num(size)}v${num(size * 1.25)}h${num(-size)}Z`;
    }
  }
  const glow = palette.lampsOn
    ? ["#ffd98a", "#fff3cf"]
    : [seen(palette, "#d7ecff", depth), seen(palette, "#f5fbff", depth)];
  const strength = Math.max(0.25, 1 - depth * 0.9);
  groups.forEach((d, i) => {
    if (d) parts.push(path(d, glow[i] ?? dark, { "fill-opacity": i === 2 ? 0.5 : strength }));
  });
  return parts.join("");
}

/** A bridge of arches from side to side at the horizon. */
export function paintBridge(scene: Scene): string {
  const mention = mentionOf(scene.reading, "bridge");
  if (!mention) return "";
  const { width, horizon, height, palette, unit, gradients } = scene;
  const own = scene.random.fork("bridge");
  const colour = mention.colours[0] ?? "#b5685a";
  const deck = horizon - unit * own.range(5, 9);
  const foot = horizon + (height - horizon) * 0.16;
  const [lit, dark] = [seen(palette, lighten(colour, 0.15), 0.22), seen(palette, darken(colour, 0.35), 0.18)];
  const towers = [0.24, 0.76].map((share) => share * width);
  const parts: string[] = [];
  const span = width * 0.52;
  const rise = unit * 24;
  for (const tower of towers) {
    parts.push(
      rect(
        tower - unit * 1.5,
        deck - rise,
        unit * 3,
        foot - deck + rise,
        gradients.linear(
          [
            [0, lit],
            [1, dark],
          ],
          [0, 0, 1, 0],
        ),
      ),
    );
    parts.push(rect(tower - unit * 2, deck - rise - unit, unit * 4, unit * 1.6, lit));
  }
  const cable = (from: number, to: number, low: number) =>
    `M${num(from)} ${num(deck - rise)}Q${num((from + to) / 2)} ${num(low)} ${num(to)} ${num(deck - rise)}`;
  const [a = 0, b = width] = towers;
  const cables =
    cable(a, b, deck + rise * 0.86) + cable(a - span, a, deck + rise * 0.86) + cable(b, b + span, deck + rise * 0.86);
  let hangers = "";
  for (let i = 1; i < 40; i++) {
    const x = (i / 40) * width;
    const base = x < a ? a - span : x < b ? a : b;
    const t = (x - base) / span;
    const y = (1 - t) ** 2 * (deck - rise) + 2 * (1 - t) * t * (deck + rise * 0.86) + t * t * (deck - rise);
    hangers += `M${num(x)} ${num(y)}V${num(deck)}`;
  }
  parts.push(stroke(hangers, dark, unit * 0.18), stroke(cables, lit, unit * 0.6));
  parts.push(
    rect(
      0,
      deck,
      width,
      unit * 1.9,
      gradients.linear([
        [0, lit],
        [1, dark],
      ]),
    ),
  );
  return parts.join("");
}
