import { darken, lighten } from "../colour.ts";
import type { Brush } from "../scene.ts";
import { circle, group, num, path, rect, stroke } from "../svg.ts";
import { pane } from "./buildings.ts";

export function paintLighthouse(brush: Brush): string {
  const { tone, gradients, palette, lightFrom } = brush;
  const stripe = brush.colours[0] ?? "#d8443c";
  const white = brush.colours[1] ?? "#f7f3ea";
  const round = (c: string) =>
    gradients.linear(
      [
        [0, tone(lighten(c, 0.3))],
        [0.5, tone(c)],
        [1, tone(darken(c, 0.4))],
      ],
      lightFrom < 0 ? [0, 0, 1, 0] : [1, 0, 0, 0],
    );
  const half = (y: number) => 8 + ((76 + y) / 76) * 6;
  const bands = [0, 1, 2, 3, 4].map((i) => {
    const [top, low] = [-76 + i * 15.2, -76 + (i + 1) * 15.2];
    return path(
      `M${num(-half(top))} ${num(top)}H${num(half(top))}L${num(half(low))} ${num(low)}H${num(-half(low))}Z`,
      round(i % 2 ? white : stripe),
    );
  });
  const beam = (s: number) =>
    path(
      `M0 -86L${s * 260} -128V-62Z`,
      gradients.linear(
        [
          [0, "#fff2b8", 0.75],
          [1, "#fff2b8", 0],
        ],
        s < 0 ? [1, 0, 0, 0] : [0, 0, 1, 0],
      ),
    );
  return (
    (palette.lampsOn ? beam(-1) + beam(1) : "") +
    path("M-30 0C-26 -10 -16 -12 0 -12C16 -12 26 -10 30 0Z", tone("#6f6a70")) +
    bands.join("") +
    rect(-2.5, -14, 5, 12, tone("#3a2c2c"), { rx: 2 }) +
    rect(-1.8, -56, 3.6, 6, pane(brush), { rx: 1 }) +
    rect(-1.8, -36, 3.6, 6, pane(brush), { rx: 1 }) +
    rect(-12, -79, 24, 3.6, tone("#3b4150")) +
    rect(-6, -92, 12, 13, palette.lampsOn ? "#fff0b0" : tone("#d6eef8")) +
    stroke("M-6 -92V-79M-2 -92V-79M2 -92V-79M6 -92V-79", tone("#3b4150"), 0.8) +
    path("M-8.500 -92L0 -100L8.500 -92Z", round(stripe)) +
    (palette.lampsOn
      ? circle(
          0,
          -86,
          26,
          gradients.radial([
            [0, "#fffbe0", 0.95],
            [0.3, "#ffe9a0", 0.5],
            [1, "#ffe9a0", 0],
          ]),
        )
      : "")
  );
}

export function paintWindmill(brush: Brush): string {
  const { tone, gradients, random } = brush;
  const wall = brush.colours[0] ?? "#efe5d3";
  const cap = brush.colours[1] ?? "#8a4b3c";
  const turn = random.range(0, 90);
  const sails = [0, 90, 180, 270]
    .map((a) =>
      group(
        `rotate(${num(a + turn)})`,
        rect(-0.9, -40, 1.8, 40, tone("#5a4636")) +
          rect(0.9, -39, 8, 29, tone("#fbf7ee"), { "fill-opacity": 0.9 }) +
          stroke("M1 -33h8M1 -27h8M1 -21h8M1 -15h8", tone("#8a735c"), 0.6),
      ),
    )
    .join("");
  return (
    path(
      "M-17 0L-10 -60H10L17 0Z",
      gradients.linear(
        [
          [0, tone(lighten(wall, 0.25))],
          [0.5, tone(wall)],
          [1, tone(darken(wall, 0.35))],
        ],
        brush.lightFrom < 0 ? [0, 0, 1, 0] : [1, 0, 0, 0],
      ),
    ) +
    path("M-12 -59C-11 -74 11 -74 12 -59Z", tone(cap)) +
    rect(-4, -15, 8, 15, tone("#5f3d2c"), { rx: 3 }) +
    rect(-2.5, -46, 5, 7, pane(brush), { rx: 1 }) +
    rect(-2.5, -31, 5, 7, pane(brush), { rx: 1 }) +
    group("translate(0 -61)", sails + circle(0, 0, 2.6, tone("#3c3028")))
  );
}

export function paintTower(brush: Brush): string {
  const { tone, gradients, random, palette } = brush;
  const wall = brush.colours[0] ?? random.pick(["#5f7896", "#7c7f99", "#6d8a9a", "#927f8f"]);
  const face = gradients.linear([
    [0, tone(lighten(wall, 0.3))],
    [1, tone(darken(wall, 0.18))],
  ]);
  let lit = "";
  let dull = "";
  for (let y = 0; y < 21; y++) {
    for (let x = 0; x < 4; x++) {
      const d = `M${num(-12.2 + x * 4.3)} ${num(-84 + y * 4)}h2.900v2.500h-2.900z`;
      if (random.chance(palette.lampsOn ? 0.5 : 0.25)) lit += d;
      else dull += d;
    }
  }
  return (
    rect(-14, -87, 20, 87, face) +
    path("M6 -87L14 -83V0H6Z", tone(darken(wall, 0.42))) +
    path(lit, palette.lampsOn ? "#ffdf94" : tone("#e4f4ff")) +
    path(dull, tone(darken(wall, 0.35)), { "fill-opacity": 0.7 }) +
    rect(-9, -91, 10, 4.5, face) +
    rect(-4.6, -100, 1.2, 10, tone("#3b4150")) +
    (palette.lampsOn ? circle(-4, -100, 1.6, "#ff5d50") : "")
  );
}
