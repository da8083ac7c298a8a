import { darken, lighten, mix } from "../colour.ts";
import type { Brush } from "../scene.ts";
import { circle, ellipse, group, num, path, rect, stroke } from "../svg.ts";

export const pane = ({ palette, tone }: Brush): string => (palette.lampsOn ? "#ffd985" : tone("#bfe0f2"));

function window(brush: Brush, x: number, y: number, w: number, h: number): string {
  const glow = brush.palette.lampsOn
    ? ellipse(
        x + w / 2,
        y + h / 2,
        w * 1.5,
        h * 1.3,
        brush.gradients.radial([
          [0, "#ffd985", 0.5],
          [1, "#ffb347", 0],
        ]),
      )
    : "";
  return (
    glow +
    rect(x - 1.2, y - 1.2, w + 2.4, h + 2.4, brush.tone("#fbf6ea")) +
    rect(x, y, w, h, pane(brush)) +
    stroke(
      `M${num(x + w / 2)} ${num(y)}V${num(y + h)}M${num(x)} ${num(y + h / 2)}H${num(x + w)}`,
      brush.tone("#fbf6ea"),
      0.9,
    )
  );
}

export function paintHouse(brush: Brush): string {
  const { tone, gradients, random, lightFrom } = brush;
  const wall = brush.colours[0] ?? random.pick(["#f3e6cf", "#e9d3b4", "#dfe5e2", "#f0cdb4"]);
  const roof =
    brush.colours[1] ??
    (brush.colours[0] ? darken(brush.colours[0], 0.45) : random.pick(["#b4503f", "#7d4b57", "#4f6275"]));
  const front = gradients.linear([
    [0, tone(lighten(wall, 0.18))],
    [1, tone(darken(wall, 0.12))],
  ]);
  const side = tone(darken(wall, 0.28));
  const smoke = Array.from({ length: 5 }, (_, i) =>
    circle(34 + i * 4 + random.range(-2, 2), -98 - i * 8, 3 + i * 1.7, tone("#f2f0ee"), {
      "fill-opacity": 0.42 - i * 0.07,
    }),
  ).join("");
  const tiles = [0.25, 0.5, 0.75].map((t) => `M${num(-14 + t * 9)} ${num(-92 + t * 42)}H${num(52 + t * 11)}`).join("");
  const body =
    smoke +
    rect(30, -96, 10, 30, tone(darken(roof, 0.3))) +
    rect(28.5, -98, 13, 4, tone(darken(roof, 0.45))) +
    path("M-8 -50H58V0H-8Z", side) +
    path("M-56 -50L-32 -88L-8 -50V0H-56Z", front) +
    path(
      "M-35 -93H48L66 -47H-3Z",
      gradients.linear([
        [0, tone(lighten(roof, 0.18))],
        [1, tone(darken(roof, 0.12))],
      ]),
    ) +
    stroke(tiles, tone(darken(roof, 0.25)), 0.9, { "stroke-opacity": 0.6 }) +
    path("M-63 -43L-32 -93L-29 -93L-3 -47L-7 -44L-32 -85L-59 -41Z", tone(darken(roof, 0.25))) +
    window(brush, -39, -68, 13, 12) +
    rect(-40, -34, 17, 34, tone(mix(roof, "#4a2f22", 0.4)), { rx: 1.5 }) +
    circle(-27, -16, 1.2, tone("#f2d070")) +
    window(brush, 4, -36, 15, 16) +
    window(brush, 33, -36, 15, 16);
  const snow = brush.palette.snowy
    ? path("M-35 -94H48L53 -80C40 -74 30 -84 18 -77C6 -84 -8 -74 -24 -80Z", tone("#fbfdff"))
    : "";
  return group(lightFrom < 0 ? "" : "scale(-1 1)", body + snow);
}

export function paintCastle(brush: Brush): string {
  const { tone, gradients, random } = brush;
  const wall = brush.colours[0] ?? random.pick(["#c9bda9", "#b9b4bd", "#d3c4b0"]);
  const roof = brush.colours[1] ?? brush.palette.accents[0];
  const stone = (c: string) =>
    gradients.linear(
      [
        [0, tone(lighten(c, 0.28))],
        [0.45, tone(c)],
        [1, tone(darken(c, 0.35))],
      ],
      brush.lightFrom < 0 ? [0, 0, 1, 0] : [1, 0, 0, 0],
    );
  const merlons = (x: number, y: number, w: number) => {
    const count = Math.max(3, Math.round(w / 6));
    const step = w / (count * 2 - 1);
    return path(
      Array.from({ length: count }, (_, i) => `M${num(x + i * step * 2)} ${num(y)}h${num(step)}v4h${num(-step)}z`).join(
        "",
      ),
      stone(wall),
    );
  };
  const tower = (x: number, w: number, h: number, coned: boolean) =>
    rect(x - w / 2, -h, w, h, stone(wall)) +
    rect(x - w / 2 - 1.5, -h - 3, w + 3, 6, stone(lighten(wall, 0.1))) +
    (coned
      ? path(
          `M${num(x - w / 2 - 3)} ${-h - 2}L${x} ${num(-h - w * 1.35)}L${num(x + w / 2 + 3)} ${-h - 2}Z`,
          stone(roof),
        ) +
        stroke(`M${x} ${num(-h - w * 1.3)}v-8`, tone("#4a4250"), 0.8) +
        path(`M${x} ${num(-h - w * 1.3 - 8)}l8 2.500l-8 2.500z`, tone(lighten(roof, 0.2)))
      : merlons(x - w / 2 - 1.5, -h - 6.5, w + 3)) +
    rect(x - 1.7, -h * 0.72, 3.4, 8, pane(brush), { rx: 1.7 }) +
    rect(x - 1.7, -h * 0.42, 3.4, 8, pane(brush), { rx: 1.7 });
  return (
    tower(-22, 15, 74, true) +
    tower(20, 17, 66, false) +
    tower(0, 18, 66, true) +
    rect(-46, -36, 92, 36, stone(darken(wall, 0.06))) +
    merlons(-46, -40, 92) +
    tower(-46, 17, 50, true) +
    tower(46, 17, 50, true) +
    path("M-10 0V-16C-10 -30 10 -30 10 -16V0Z", tone("#2f2530")) +
    stroke("M-5 0V-23M0 0V-26M5 0V-23M-10 -10H10M-10 -18H10", tone("#6b5a4a"), 0.8)
  );
}

export function paintTent(brush: Brush): string {
  const { tone, colour, palette, gradients } = brush;
  const inside = palette.lampsOn ? "#ffd27a" : tone(darken(colour, 0.55));
  const glow = palette.lampsOn
    ? ellipse(
        -10,
        -26,
        90,
        70,
        gradients.radial([
          [0, "#ffcf80", 0.5],
          [1, "#ffb347", 0],
        ]),
      )
    : "";
  return (
    glow +
    path("M-20 -98L72 0H-6Z", tone(darken(colour, 0.3))) +
    path("M-20 -98L-72 0H-6Z", tone(lighten(colour, 0.15))) +
    path("M-20 -82L-44 0H-14Z", inside) +
    path("M-20 -82L-14 0L-6 0L-20 -98Z", tone(lighten(colour, 0.35))) +
    stroke("M-20 -98V-106M-72 0L-84 4M72 0L84 4", tone("#4a3f3a"), 1.6)
  );
}
