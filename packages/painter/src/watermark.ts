import { group, num, type Point, polyline, rect, stroke } from "./svg.ts";

/** Strokes in a box of 4 by 6. Fonts of the machine would change the bytes. */
const glyphs: Readonly<Record<string, readonly (readonly Point[])[]>> = {
  G: [
    [
      [4, 1],
      [3, 0],
      [1, 0],
      [0, 1],
      [0, 5],
      [1, 6],
      [3, 6],
      [4, 5],
      [4, 3],
      [2.4, 3],
    ],
  ],
  A: [
    [
      [0, 6],
      [0, 2],
      [2, 0],
      [4, 2],
      [4, 6],
    ],
    [
      [0, 4],
      [4, 4],
    ],
  ],
  N: [
    [
      [0, 6],
      [0, 0],
      [4, 6],
      [4, 0],
    ],
  ],
  T: [
    [
      [0, 0],
      [4, 0],
    ],
    [
      [2, 0],
      [2, 6],
    ],
  ],
  R: [
    [
      [0, 6],
      [0, 0],
      [3, 0],
      [4, 1],
      [4, 2],
      [3, 3],
      [0, 3],
    ],
    [
      [2, 3],
      [4, 6],
    ],
  ],
  Y: [
    [
      [0, 0],
      [2, 3],
      [4, 0],
    ],
    [
      [2, 3],
      [2, 6],
    ],
  ],
};

/** A gantry crane: two legs and a beam with a hook. */
const emblem: readonly (readonly Point[])[] = [
  [
    [0, 6],
    [1, 0],
    [7, 0],
    [8, 6],
  ],
  [
    [-0.6, 1.6],
    [8.6, 1.6],
  ],
  [
    [4, 1.6],
    [4, 3.6],
    [3.2, 4.4],
    [4, 5.2],
    [4.8, 4.4],
  ],
];

const text = "GANTRY";
const advance = 5.6;
const lettersAt = 11.5;
const breadth = lettersAt + text.length * advance - (advance - 4);

/** In the lower right corner, legible on light and dark pictures. */
export function paintWatermark(width: number, height: number): string {
  const unit = Math.min(width, height) / 100;
  const scale = (unit * 17) / breadth;
  const pad = unit * 1.3;
  const [boxWidth, boxHeight] = [breadth * scale + pad * 2.4, 6 * scale + pad * 2];
  const [x, y] = [width - boxWidth - unit * 2, height - boxHeight - unit * 2];
  const strokes = [
    ...emblem,
    ...[...text].flatMap((letter, i) =>
      (glyphs[letter] ?? []).map((line) => line.map(([px, py]): Point => [px + lettersAt + i * advance, py])),
    ),
  ];
  const d = strokes.map(polyline).join("");
  return (
    rect(x, y, boxWidth, boxHeight, "#0a0e18", { rx: boxHeight / 2, "fill-opacity": 0.5 }) +
    group(
      `translate(${num(x + pad * 1.2)} ${num(y + pad)}) scale(${scale.toFixed(4)})`,
      stroke(d, "#ffffff", 0.85, { "stroke-linejoin": "round", "stroke-opacity": 0.95 }),
    )
  );
}
