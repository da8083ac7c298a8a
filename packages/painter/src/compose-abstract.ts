import { darken, lighten, mix } from "./colour.ts";
import type { Random } from "./random.ts";
import { circle, ellipse, type Gradients, group, num, type Point, path, rect, smooth, stroke } from "./svg.ts";

interface AbstractCanvas {
  width: number;
  height: number;
  unit: number;
  colours: readonly [string, ...string[]];
  random: Random;
  gradients: Gradients;
  detailed: boolean;
}

type Style = (canvas: AbstractCanvas) => string;

/** For prompts without a known subject. The seed chooses one of five compositions. */
export function composeAbstract(canvas: AbstractCanvas): string {
  const { width, height, random, gradients, colours } = canvas;
  const style = random.fork("style").pick<Style>([ribbons, orbits, mosaic, blossom, shards]);
  const [a, b] = [colour(canvas, 0), colour(canvas, 1)];
  const ground = gradients.linear(
    [
      [0, darken(a, 0.72)],
      [0.55, mix(darken(a, 0.5), b, 0.3)],
      [1, mix(darken(b, 0.35), colours[0], 0.3)],
    ],
    [0, 0, 0.6, 1],
  );
  return rect(0, 0, width, height, ground) + glows(canvas) + style(canvas) + (canvas.detailed ? dust(canvas) : "");
}

const colour = ({ colours }: AbstractCanvas, i: number): string => colours[i % colours.length] ?? colours[0];

function glows(canvas: AbstractCanvas): string {
  const own = canvas.random.fork("glows");
  return Array.from({ length: 4 }, (_, i) => {
    const tint = colour(canvas, i);
    const r = Math.max(canvas.width, canvas.height) * own.range(0.3, 0.55);
    return circle(
      own.next() * canvas.width,
      own.next() * canvas.height,
      r,
      canvas.gradients.radial([
        [0, tint, 0.5],
        [1, tint, 0],
      ]),
    );
  }).join("");
}

/** Bands that flow across the sheet, each behind the next. */
function ribbons(canvas: AbstractCanvas): string {
  const { width, height, gradients, detailed } = canvas;
  const own = canvas.random.fork("ribbons");
  const count = detailed ? 16 : 11;
  const [slow, quick, lean] = [own.range(1.2, 2.4), own.range(3, 5), own.range(-0.3, 0.3)];
  const phase = own.range(0, 6);
  return Array.from({ length: count }, (_, i) => {
    const t = i / count;
    const line = Array.from({ length: 17 }, (_, k): Point => {
      const x = k / 16;
      const wave =
        Math.sin(x * slow * 3.1 + phase + t * 2.4) * 0.11 + Math.sin(x * quick * 3.1 + phase * 2 - t * 3) * 0.035;
      return [x * width, height * (0.16 + t * 0.86 + wave + (x - 0.5) * lean)];
    });
    const own_ = mix(colour(canvas, i), colour(canvas, i + 1), own.next() * 0.5);
    const fill = gradients.linear([
      [0, lighten(own_, 0.18), 0.96],
      [0.3, own_, 0.95],
      [1, darken(own_, 0.5), 0.96],
    ]);
    return (
      path(`${smooth(line)}L${width} ${height * 1.3}L0 ${height * 1.3}Z`, fill) +
      stroke(smooth(line), lighten(own_, 0.5), canvas.unit * 0.2, { "stroke-opacity": 0.7 })
    );
  }).join("");
}

/** Arcs and worlds around one centre. */
function orbits(canvas: AbstractCanvas): string {
  const { width, height, unit, gradients, detailed } = canvas;
  const own = canvas.random.fork("orbits");
  const [cx, cy] = [width * own.range(0.3, 0.7), height * own.range(0.35, 0.65)];
  const squash = own.range(0.35, 0.95);
  const rings = detailed ? 22 : 14;
  const parts = Array.from({ length: rings }, (_, i) => {
    const r = unit * (9 + i * own.range(3.6, 4.6));
    const tint = colour(canvas, i);
    const long = r * own.range(1.2, 5.4);
    const ring = ellipse(0, 0, r, r * squash, "none", {
      stroke: tint,
      "stroke-width": unit * own.range(0.15, 1.7),
      "stroke-opacity": own.range(0.35, 0.95),
      "stroke-dasharray": `${num(long)} ${num(r * own.range(0.2, 2))}`,
      "stroke-linecap": "round",
    });
    const angle = own.range(0, 6.283);
    const size = unit * own.range(0.7, 3);
    const ball = gradients.radial(
      [
        [0, lighten(tint, 0.6)],
        [0.6, tint],
        [1, darken(tint, 0.6)],
      ],
      [0.35, 0.3],
      0.8,
    );
    return (
      group(`rotate(${num(own.range(0, 360))})`, ring) +
      (own.chance(0.6) ? circle(Math.cos(angle) * r, Math.sin(angle) * r * squash, size, ball) : "")
    );
  }).join("");
  const heart = gradients.radial(
    [
      [0, "#fffdf0"],
      [0.35, lighten(colour(canvas, 0), 0.5)],
      [0.75, colour(canvas, 0)],
      [1, darken(colour(canvas, 1), 0.3)],
    ],
    [0.4, 0.35],
    0.75,
  );
  const halo = gradients.radial([
    [0.2, colour(canvas, 0), 0.8],
    [1, colour(canvas, 0), 0],
  ]);
  return group(
    `translate(${num(cx)} ${num(cy)}) rotate(${num(own.range(-30, 30))})`,
    circle(0, 0, unit * 24, halo) + parts + circle(0, 0, unit * 7.5, heart),
  );
}

/** A grid of quarter circles, rings and dots. */
function mosaic(canvas: AbstractCanvas): string {
  const { width, height, gradients } = canvas;
  const own = canvas.random.fork("mosaic");
  const across = Math.max(4, Math.round((width / Math.min(width, height)) * own.int(5, 7)));
  const cell = width / across;
  const parts: string[] = [];
  for (let row = 0; row * cell < height; row++) {
    for (let col = 0; col < across; col++) {
      const [base, top] = [colour(canvas, own.int(0, 11)), colour(canvas, own.int(0, 11))];
      const back = gradients.linear(
        [
          [0, lighten(base, 0.1)],
          [1, darken(base, 0.28)],
        ],
        [0, 0, 1, 1],
      );
      const front = gradients.linear(
        [
          [0, lighten(top, 0.35)],
          [1, darken(top, 0.1)],
        ],
        [0, 0, 1, 1],
      );
      const shape =
        [
          `<path d="M0 0A1 1 0 0 1 1 1H0Z" fill="${front}"/>`,
          `<path d="M0 0A.5 .5 0 0 1 0 1ZM1 0A.5 .5 0 0 0 1 1Z" fill="${front}"/>`,
          `<circle cx=".5" cy=".5" r=".36" fill="${front}"/><circle cx=".5" cy=".5" r=".17" fill="${back}"/>`,
          `<path d="M0 0L1 0L0 1Z" fill="${front}"/>`,
          `<path d="M0 1A1 1 0 0 1 1 0V.34A.66 .66 0 0 0 .34 1Z" fill="${front}"/>`,
          `<path d="M.5 0L1 .5L.5 1L0 .5Z" fill="${front}"/>`,
        ][own.int(0, 5)] ?? "";
      const turn = own.int(0, 3) * 90;
      parts.push(
        rect(col * cell, row * cell, cell + 0.6, cell + 0.6, back),
        group(`translate(${num(col * cell)} ${num(row * cell)}) scale(${num(cell)}) rotate(${turn} .5 .5)`, shape),
      );
    }
  }
  return parts.join("");
}

/** Petals in rings, the outer ones large and dark. */
function blossom(canvas: AbstractCanvas): string {
  const { width, height, unit, gradients, detailed } = canvas;
  const own = canvas.random.fork("blossom");
  const rings = detailed ? 9 : 6;
  const fold = own.int(6, 13);
  const [slim, tip] = [own.range(0.5, 1.1), own.range(0.55, 0.8)];
  const parts: string[] = [];
  for (let i = rings; i > 0; i--) {
    const long = unit * 66 * (i / rings) ** 1.1;
    const petals = fold + (i % 2) * Math.round(fold / 2);
    const half = ((long * Math.PI) / petals) * slim;
    const tint = mix(colour(canvas, i), colour(canvas, i + 1), 0.25);
    const fill = gradients.linear([
      [0, lighten(tint, 0.3), 0.92],
      [1, darken(tint, 0.45), 0.92],
    ]);
    const turn = own.range(0, 60);
    for (let k = 0; k < petals; k++) {
      const d = `M0 0C${num(-half)} ${num(-long * 0.3)} ${num(-half)} ${num(-long * tip)} 0 ${num(-long)}C${num(half)} ${num(-long * tip)} ${num(half)} ${num(-long * 0.3)} 0 0Z`;
      parts.push(
        group(
          `rotate(${num((k * 360) / petals + turn)})`,
          path(d, fill, { stroke: lighten(tint, 0.35), "stroke-opacity": 0.5, "stroke-width": unit * 0.12 }),
        ),
      );
    }
  }
  const heart = gradients.radial([
    [0, "#fffbe6"],
    [0.6, lighten(colour(canvas, 0), 0.4)],
    [1, colour(canvas, 0)],
  ]);
  return group(
    `translate(${num(width * own.range(0.4, 0.6))} ${num(height * own.range(0.42, 0.58))})`,
    parts.join("") + circle(0, 0, unit * 4.4, heart),
  );
}

/** Tall translucent planes that lean on each other. */
function shards(canvas: AbstractCanvas): string {
  const { width, height, unit, gradients, detailed } = canvas;
  const own = canvas.random.fork("shards");
  return Array.from({ length: detailed ? 34 : 22 }, (_, i) => {
    const [x, foot] = [own.range(-0.05, 1.05) * width, height * own.range(0.72, 1.1)];
    const [tall, half] = [height * own.range(0.25, 0.85), unit * own.range(4, 15)];
    const lean = own.range(-0.35, 0.35) * tall;
    const tint = colour(canvas, i);
    const side = gradients.linear([
      [0, lighten(tint, 0.45), 0.85],
      [1, tint, 0.25],
    ]);
    const shade = gradients.linear([
      [0, tint, 0.85],
      [1, darken(tint, 0.6), 0.4],
    ]);
    const apex = `${num(x + lean)} ${num(foot - tall)}`;
    return (
      path(`M${apex}L${num(x - half)} ${num(foot)}L${num(x + half * 0.2)} ${num(foot + unit * 3)}Z`, side) +
      path(`M${apex}L${num(x + half * 0.2)} ${num(foot + unit * 3)}L${num(x + half)} ${num(foot - unit)}Z`, shade)
    );
  }).join("");
}

function dust({ width, height, unit, random, colours }: AbstractCanvas): string {
  const own = random.fork("dust");
  return Array.from({ length: 150 }, () =>
    circle(
      own.next() * width,
      own.next() * height,
      unit * (0.07 + own.next() ** 4 * 0.6),
      lighten(own.pick(colours), 0.55),
      { "fill-opacity": own.range(0.25, 0.85) },
    ),
  ).join("");
}
