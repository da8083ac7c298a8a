import { darken, lighten } from "../colour.ts";
import type { Brush } from "../scene.ts";
import { circle, ellipse, num, path, rect, stroke } from "../svg.ts";

export function paintBoat(brush: Brush): string {
  const { tone, gradients, colour, random } = brush;
  const sail = brush.colours[1] ?? (brush.colours[0] ? lighten(brush.colours[0], 0.72) : "#fdf6e8");
  const cloth = (c: string) =>
    gradients.linear(
      [
        [0, tone(lighten(c, 0.3))],
        [1, tone(darken(c, 0.16))],
      ],
      brush.lightFrom < 0 ? [0, 0, 1, 0] : [1, 0, 0, 0],
    );
  const hull = gradients.linear([
    [0, tone(lighten(colour, 0.15))],
    [1, tone(darken(colour, 0.4))],
  ]);
  const fill = random.range(30, 38);
  return (
    stroke("M0 -14V-100", tone("#6b4a33"), 1.8) +
    path(`M2 -98C${num(fill)} -70 ${num(fill)} -40 30 -20H2Z`, cloth(sail)) +
    path(`M-2 -90C-14 -66 -26 -40 -34 -20H-2Z`, cloth(darken(sail, 0.08))) +
    stroke("M2 -72C14 -70 24 -68 29 -66M2 -46C16 -44 28 -42 33 -40", tone(darken(sail, 0.25)), 0.7) +
    path("M0 -100L14 -96L0 -92Z", tone(colour)) +
    path("M-40 -16H42C38 -4 30 2 22 3H-22C-32 2 -38 -6 -40 -16Z", hull) +
    path("M-40 -16H42L40.500 -12H-39Z", tone(lighten(colour, 0.6))) +
    ellipse(0, 3, 46, 2, "#ffffff", { "fill-opacity": 0.4 })
  );
}

export function paintShip(brush: Brush): string {
  const { tone, colour, gradients, palette } = brush;
  const second = brush.colours[1] ?? "#f4f1ea";
  const ports = Array.from({ length: 13 }, (_, i) =>
    circle(-92 + i * 14.5, -22, 2.6, palette.lampsOn ? "#ffe09a" : tone("#dfeef8")),
  ).join("");
  const decks = [0, 1, 2]
    .map(
      (i) =>
        rect(-78 + i * 12, -46 - i * 13, 132 - i * 26, 13, tone(lighten(second, i * 0.1)), { rx: 2 }) +
        path(
          Array.from({ length: 9 - i * 2 }, (_, k) => `M${num(-70 + i * 12 + k * 13.5)} ${-42 - i * 13}h7v5h-7z`).join(
            "",
          ),
          palette.lampsOn ? "#ffdc8f" : tone("#5d7f9c"),
        ),
    )
    .join("");
  const funnel = [-20, 14]
    .map(
      (x) =>
        path(`M${x} -72L${x + 3} -98H${x + 17}L${x + 16} -72Z`, tone(colour)) +
        rect(x + 3, -98, 14, 5, tone("#2b2f3a")),
    )
    .join("");
  return (
    funnel +
    decks +
    path(
      "M-126 -36H128C120 -16 110 -2 98 4H-100C-114 0 -122 -16 -126 -36Z",
      gradients.linear([
        [0, tone(colour)],
        [1, tone(darken(colour, 0.45))],
      ]),
    ) +
    path("M-126 -36H128L126 -31H-125Z", tone(second)) +
    ports +
    ellipse(0, 4, 122, 3.4, "#ffffff", { "fill-opacity": 0.4 })
  );
}

export function paintWhale(brush: Brush): string {
  const { tone, gradients } = brush;
  const skin = brush.colours[0] ?? "#3f6790";
  const back = gradients.linear([
    [0, tone(lighten(skin, 0.22))],
    [1, tone(darken(skin, 0.25))],
  ]);
  const spout = Array.from(
    { length: 7 },
    (_, i) =>
      `M-44 -62Q${-50 + i * 4} ${num(-98 - Math.abs(3 - i) * -4)} ${-74 + i * 20} ${num(-82 - (3 - Math.abs(3 - i)) * 5)}`,
  ).join("");
  return (
    stroke(spout, "#ffffff", 2, { "stroke-opacity": 0.75 }) +
    path(
      "M-100 2C-104 -34 -78 -58 -40 -60C4 -62 34 -40 56 -22C68 -14 74 -20 80 -34C70 -40 66 -52 66 -60C78 -58 86 -52 88 -44C92 -52 102 -56 112 -54C110 -44 104 -36 94 -32C90 -14 82 2 70 2Z",
      back,
    ) +
    path("M-100 2C-101 -10 -98 -20 -92 -26C-66 -8 -20 -8 10 2Z", tone("#dfe8ee")) +
    stroke("M-88 -18C-62 -4 -30 -3 -6 1M-90 -12C-70 -2 -46 -1 -28 2", tone("#9fb4c4"), 1.2) +
    circle(-66, -28, 3.2, tone("#10131c")) +
    circle(-67, -29, 1, "#ffffff") +
    path("M-30 -8C-24 6 -10 12 4 10C0 0 -8 -8 -18 -12Z", tone(darken(skin, 0.3))) +
    ellipse(-14, 3, 104, 4, "#ffffff", { "fill-opacity": 0.5 })
  );
}

export function paintFish(brush: Brush): string {
  const { tone, colour } = brush;
  const scales = brush.detailed
    ? stroke("M-20 -62Q-14 -50 -20 -38M-4 -70Q4 -50 -4 -32M14 -70Q22 -50 14 -32", tone(darken(colour, 0.2)), 1.6)
    : "";
  return (
    path("M-46 -50L-90 -84C-80 -60 -80 -42 -90 -18Z", tone(darken(colour, 0.15))) +
    path("M-16 -76C0 -100 22 -98 34 -84L20 -74Z", tone(darken(colour, 0.25))) +
    path("M-54 -50C-30 -86 40 -92 84 -50C40 -10 -30 -16 -54 -50Z", tone(colour)) +
    path("M-54 -50C-20 -34 40 -30 84 -50C40 -10 -30 -16 -54 -50Z", tone(lighten(colour, 0.45)), {
      "fill-opacity": 0.7,
    }) +
    scales +
    circle(58, -56, 7, "#ffffff") +
    circle(60, -56, 3.6, "#15181f")
  );
}

const wheel = ({ tone }: Brush, x: number, r: number): string =>
  circle(x, -r, r, tone("#23262f")) +
  circle(x, -r, r * 0.55, tone("#c5ccd6")) +
  circle(x, -r, r * 0.2, tone("#5a616e"));

export function paintCar(brush: Brush): string {
  const { tone, gradients, colour, palette, random } = brush;
  const paint = gradients.linear([
    [0, tone(lighten(colour, 0.3))],
    [0.5, tone(colour)],
    [1, tone(darken(colour, 0.35))],
  ]);
  const glass = gradients.linear([
    [0, tone("#cfe9f5")],
    [1, tone("#6c9ab8")],
  ]);
  const beam = palette.lampsOn
    ? path(
        "M116 -44L240 -66V-2L116 -34Z",
        gradients.linear(
          [
            [0, "#fff0b8", 0.7],
            [1, "#fff0b8", 0],
          ],
          [0, 0, 1, 0],
        ),
      )
    : "";
  const figure =
    beam +
    ellipse(0, 0, 122, 7, "#0b0d16", { "fill-opacity": 0.35 }) +
    path(
      "M-118 -20C-120 -46 -112 -56 -92 -58L-66 -62C-48 -88 -32 -98 4 -98C36 -98 52 -84 68 -62C96 -58 114 -52 118 -36L119 -20C118 -14 114 -12 108 -12H-108C-114 -12 -118 -14 -118 -20Z",
      paint,
    ) +
    path("M-56 -62C-42 -82 -32 -90 -6 -90V-62ZM0 -90C30 -90 42 -80 56 -62H0Z", glass) +
    path("M-40 -66L-26 -88L-18 -89L-32 -66ZM8 -66L20 -89L28 -87L18 -66Z", "#ffffff", { "fill-opacity": 0.35 }) +
    stroke("M-3 -62V-18M-110 -40H112", tone(darken(colour, 0.4)), 1.4, { "stroke-opacity": 0.6 }) +
    rect(-24, -50, 13, 3.4, tone("#e8ecf2"), { rx: 1.6 }) +
    rect(34, -50, 13, 3.4, tone("#e8ecf2"), { rx: 1.6 }) +
    ellipse(110, -42, 7, 6, palette.lampsOn ? "#fff6cf" : tone("#fff6df")) +
    rect(-119, -48, 6, 12, tone("#ff4b3e"), { rx: 2 }) +
    circle(-68, -21, 25, tone("#15171f")) +
    circle(68, -21, 25, tone("#15171f")) +
    wheel(brush, -68, 21) +
    wheel(brush, 68, 21);
  return random.chance(0.5) ? `<g transform="scale(-1 1)">${figure}</g>` : figure;
}

export function paintTrain(brush: Brush): string {
  const { tone, colour, gradients, palette } = brush;
  const coat = gradients.linear([
    [0, tone(lighten(colour, 0.3))],
    [0.6, tone(colour)],
    [1, tone(darken(colour, 0.3))],
  ]);
  const band = tone(brush.colours[1] ?? "#fdf4dc");
  const rails =
    rect(-3000, -3, 6000, 3, tone("#7d7f88")) +
    path(Array.from({ length: 200 }, (_, i) => `M${-3000 + i * 30} 0h14v5h-14z`).join(""), tone("#5b4636"));
  const wagon = (x: number) => {
    const panes = path(
      Array.from({ length: 5 }, (_, i) => `M${x + 14 + i * 32} -76h22v26h-22z`).join(""),
      palette.lampsOn ? "#ffdf94" : tone("#cfe6f2"),
    );
    return (
      rect(x, -92, 178, 76, coat, { rx: 9 }) +
      rect(x, -42, 178, 7, band) +
      panes +
      [28, 56, 122, 150].map((w) => wheel(brush, x + w, 9)).join("")
    );
  };
  const nose =
    path("M84 -92H208C254 -90 284 -62 292 -26C292 -18 288 -16 282 -16H84Z", coat) +
    path("M214 -80C240 -78 258 -66 266 -50H214Z", palette.lampsOn ? "#ffe9b0" : tone("#9cc8e0")) +
    path("M84 -42H284L289 -35H84Z", band) +
    path("M98 -76h24v26h-24zM134 -76h24v26h-24zM170 -76h24v26h-24z", palette.lampsOn ? "#ffdf94" : tone("#cfe6f2")) +
    circle(284, -26, 5, "#fff6cf") +
    [112, 140, 214, 242].map((w) => wheel(brush, w, 9)).join("");
  return rails + wagon(-290) + wagon(-103) + nose;
}
