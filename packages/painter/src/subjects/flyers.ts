import { darken, lighten, mix } from "../colour.ts";
import type { Brush } from "../scene.ts";
import { circle, ellipse, num, path, rect, stroke } from "../svg.ts";

export function paintBird(brush: Brush): string {
  const colour = brush.tone(brush.colours.length > 0 ? brush.colour : mix("#2b3245", brush.palette.shade, 0.3));
  const under = brush.tone(brush.colours.length > 0 ? lighten(brush.colour, 0.35) : "#56607a");
  const lift = brush.random.range(-16, 18);
  const wing = (s: number) =>
    path(
      `M${s * 6} -46C${s * 34} ${num(-78 - lift)} ${s * 70} ${num(-74 - lift)} ${s * 108} ${num(-52 - lift)}C${s * 76} ${num(-56 - lift)} ${s * 46} -46 ${s * 12} -30Z`,
      s === brush.lightFrom ? under : colour,
    );
  return wing(-1) + wing(1) + path("M-22 -30C-16 -48 14 -54 30 -42L44 -38L30 -34C20 -26 -8 -22 -40 -18Z", colour);
}

export function paintPlane(brush: Brush): string {
  const { tone, gradients } = brush;
  const colour = brush.colours[0] ?? "#f4f6fa";
  const stripe = tone(brush.colours[1] ?? brush.palette.accents[0]);
  const hull = gradients.linear([
    [0, tone(lighten(colour, 0.4))],
    [0.5, tone(colour)],
    [1, tone(darken(colour, 0.35))],
  ]);
  const dark = tone(darken(colour, 0.3));
  const windows = Array.from({ length: 9 }, (_, i) =>
    rect(-62 + i * 15, -55, 6.5, 7, brush.palette.lampsOn ? "#ffe7a8" : tone("#3c5878"), { rx: 2 }),
  ).join("");
  return (
    path("M-96 -52L-126 -96H-106L-66 -58Z", stripe) +
    path("M-8 -52L-40 -92H-24L34 -56Z", dark) +
    path("M-122 -52C-100 -66 60 -68 98 -62C122 -58 130 -46 126 -42C100 -34 -60 -34 -122 -52Z", hull) +
    path("M-112 -51C-60 -40 60 -38 124 -45L126 -42C100 -34 -60 -34 -122 -52Z", stripe) +
    windows +
    path("M96 -60L116 -55L112 -50L94 -51Z", tone("#22324a")) +
    path("M-6 -42L-58 -4H-36L44 -42Z", dark) +
    ellipse(-6, -19, 15, 6, tone(darken(colour, 0.45)))
  );
}

export function paintBalloon(brush: Brush): string {
  const { tone, gradients, palette } = brush;
  const [first, second] = [
    brush.colour,
    brush.colours[1] ?? brush.random.pick(["#fff6e6", palette.accents[1] ?? "#ffd166", "#fff6e6"]),
  ];
  const gores = 7;
  const parts: string[] = [];
  for (let i = 0; i < gores; i++) {
    const edge = (k: number) => Math.sin((k / gores - 0.5) * Math.PI) * 39;
    const [a, b] = [edge(i), edge(i + 1)];
    const light = 1 - Math.abs((i + 0.5) / gores - 0.5 - brush.lightFrom * 0.18) * 1.5;
    const own = i % 2 ? second : first;
    const colour = light > 0.5 ? lighten(own, (light - 0.5) * 0.5) : darken(own, (0.5 - light) * 0.8);
    const bow = (x: number) => `C${num(x * 1.02)} -92 ${num(x * 1.28)} -48 ${num(x * 0.2)} -22`;
    parts.push(
      path(`M0 -100${bow(a)}L${num(b * 0.2)} -22C${num(b * 1.28)} -48 ${num(b * 1.02)} -92 0 -100Z`, tone(colour)),
    );
  }
  const flame = gradients.radial([
    [0, "#fff3b0", 0.95],
    [0.4, "#ffb347", 0.6],
    [1, "#ff8a3d", 0],
  ]);
  if (palette.lampsOn)
    parts.push(
      ellipse(
        0,
        -40,
        34,
        34,
        gradients.radial([
          [0, "#ffe2a0", 0.75],
          [1, "#ffb347", 0],
        ]),
      ),
    );
  parts.push(stroke("M-8 -22L-6 -11M8 -22L6 -11M-3 -21L-2 -11M3 -21L2 -11", tone("#4a3a34"), 0.7));
  parts.push(circle(0, -18, palette.lampsOn ? 9 : 4, flame));
  parts.push(
    rect(
      -7,
      -11,
      14,
      11,
      gradients.linear([
        [0, tone("#a8733f")],
        [1, tone("#6d4423")],
      ]),
      { rx: 2 },
    ),
  );
  parts.push(rect(-8, -12, 16, 3, tone("#5b371d"), { rx: 1.4 }));
  return parts.join("");
}

export function paintRocket(brush: Brush): string {
  const { tone, gradients, random } = brush;
  const colour = brush.colours[0] ?? "#f3f4f7";
  const trim = brush.colours[1] ?? (brush.colours[0] ? lighten(brush.colours[0], 0.7) : brush.palette.accents[0]);
  const hull = gradients.linear(
    [
      [0, tone(darken(colour, 0.22))],
      [0.35, tone(lighten(colour, 0.4))],
      [1, tone(darken(colour, 0.38))],
    ],
    [0, 0, 1, 0],
  );
  const fin = gradients.linear([
    [0, tone(trim)],
    [1, tone(darken(trim, 0.4))],
  ]);
  const flame = gradients.linear([
    [0, "#fffbe0"],
    [0.25, "#ffd257"],
    [0.6, "#ff7a2f", 0.85],
    [1, "#ff4d2f", 0],
  ]);
  const smoke = Array.from({ length: 16 }, (_, i) => {
    const t = i / 15;
    return circle(
      random.range(-1, 1) * (6 + t * 22),
      26 + t * 92,
      6 + t * 15 * random.range(0.7, 1.3),
      tone(mix("#ffffff", brush.palette.haze, 0.25)),
      { "fill-opacity": 0.42 * (1 - t * 0.7) },
    );
  }).join("");
  return (
    smoke +
    path("M-10 -12C-17 12 -7 36 0 56C7 36 17 12 10 -12Z", flame) +
    path("M-13 -40C-24 -30 -27 -12 -26 2L-12 -10ZM13 -40C24 -30 27 -12 26 2L12 -10Z", fin) +
    path(
      "M0 -100C14 -86 17 -66 16 -46C16 -32 13 -18 11 -10H-11C-13 -18 -16 -32 -16 -46C-17 -66 -14 -86 0 -100Z",
      hull,
    ) +
    path("M0 -100C7 -93 11.500 -85 14 -76H-14C-11.500 -85 -7 -93 0 -100Z", fin) +
    circle(0, -58, 8.4, tone(darken(trim, 0.35))) +
    circle(0, -58, 6.2, tone("#6fc3e8")) +
    path("M-4 -61C-2 -64 2 -64 4 -61C2 -60 -2 -60 -4 -61Z", "#ffffff", { "fill-opacity": 0.8 }) +
    rect(-16, -36, 32, 4, tone(trim)) +
    path("M-2.600 -30H2.600V-4H-2.600Z", fin) +
    rect(-9, -12, 18, 5, tone("#3a3f4c"), { rx: 1.5 })
  );
}

export function paintUfo(brush: Brush): string {
  const { tone, gradients, palette } = brush;
  const colour = brush.colours[0] ?? "#8fa3bd";
  const beam = gradients.linear([
    [0, "#d8ffe6", 0.55],
    [1, "#8dffc0", 0],
  ]);
  const hull = gradients.linear([
    [0, tone(lighten(colour, 0.45))],
    [0.5, tone(colour)],
    [1, tone(darken(colour, 0.45))],
  ]);
  const lamps = [-76, -46, -15, 15, 46, 76].map((x, i) => {
    const lamp = palette.accents[i % palette.accents.length] ?? "#ffd166";
    const y = -36 + Math.cos((x / 110) * 1.57) * 9;
    return (
      circle(
        x,
        y,
        12,
        gradients.radial([
          [0, lamp, 0.8],
          [1, lamp, 0],
        ]),
      ) + circle(x, y, 4.4, "#fffbe8")
    );
  });
  return (
    path("M-40 -30L-78 130H78L40 -30Z", beam) +
    path(
      "M-42 -54C-40 -104 40 -104 42 -54Z",
      gradients.linear([
        [0, "#e6fbff", 0.9],
        [1, "#7cc7e8", 0.75],
      ]),
    ) +
    path("M-108 -42C-80 -66 80 -66 108 -42C80 -16 -80 -16 -108 -42Z", hull) +
    path("M-108 -42C-70 -34 70 -34 108 -42C80 -16 -80 -16 -108 -42Z", tone(darken(colour, 0.5)), {
      "fill-opacity": 0.5,
    }) +
    lamps.join("")
  );
}

export function paintButterfly(brush: Brush): string {
  const { tone, colour } = brush;
  const edge = tone(darken(colour, 0.55));
  const wing = (s: number) =>
    path(`M0 -52C${s * 14} -96 ${s * 58} -104 ${s * 58} -74C${s * 58} -54 ${s * 24} -46 0 -46Z`, edge) +
    path(
      `M${s * 5} -54C${s * 18} -86 ${s * 50} -94 ${s * 50} -74C${s * 50} -58 ${s * 24} -51 ${s * 5} -50Z`,
      tone(lighten(colour, 0.15)),
    ) +
    path(`M0 -48C${s * 26} -46 ${s * 48} -36 ${s * 40} -14C${s * 30} 2 ${s * 8} -16 0 -42Z`, edge) +
    path(
      `M${s * 5} -44C${s * 24} -42 ${s * 40} -32 ${s * 34} -17C${s * 27} -7 ${s * 11} -20 ${s * 5} -40Z`,
      tone(lighten(brush.colours[1] ?? colour, 0.35)),
    ) +
    circle(s * 44, -78, 4.2, "#ffffff", { "fill-opacity": 0.75 });
  return (
    wing(-1) +
    wing(1) +
    ellipse(0, -46, 3.6, 22, tone("#2a2230")) +
    stroke("M-1 -66Q-8 -84 -16 -86M1 -66Q8 -84 16 -86", tone("#2a2230"), 1.6)
  );
}

export function paintKite(brush: Brush): string {
  const { tone, colour } = brush;
  const other = brush.colours[1] ?? brush.palette.accents[1] ?? "#ffd166";
  const tail = [0, 1, 2]
    .map((i) => path(`M${num(-6 + i * 8)} ${num(16 + i * 22)}l-9 -5v10l18 -10v10z`, tone(i % 2 ? colour : other)))
    .join("");
  return (
    stroke("M0 0Q-14 30 6 52T20 96", tone("#f4f0e6"), 1.4) +
    tail +
    path("M0 -100L-34 -60L0 -60Z", tone(lighten(colour, 0.2))) +
    path("M0 -100L34 -60L0 -60Z", tone(other)) +
    path("M-34 -60L0 0V-60Z", tone(darken(other, 0.15))) +
    path("M34 -60L0 0V-60Z", tone(darken(colour, 0.15)))
  );
}
