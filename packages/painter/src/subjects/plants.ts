import { darken, lighten, mix } from "../colour.ts";
import type { Brush } from "../scene.ts";
import { circle, ellipse, group, num, path, rect, stroke } from "../svg.ts";

export function paintTree(brush: Brush): string {
  const { tone, random, lightFrom, palette } = brush;
  const autumn =
    palette.time === "golden" ? random.pick(["#d9822b", "#c4572e", "#e0a93a", palette.foliage]) : palette.foliage;
  const leaf = brush.colours[0] ?? (palette.snowy ? "#dfe9f0" : autumn);
  const bark = tone("#6b4a35");
  const crown = Array.from({ length: 11 }, (_, i) => {
    const angle = (i / 11) * 6.28 + random.range(-0.2, 0.2);
    const far = i === 0 ? 0 : random.range(13, 23);
    return { x: Math.cos(angle) * far * 1.05, y: -66 + Math.sin(angle) * far * 0.8, r: random.range(11, 17) };
  });
  const blobs = (dx: number, dy: number, scale: number, colour: string) =>
    crown.map(({ x, y, r }) => circle(x + dx, y + dy, r * scale, colour)).join("");
  const sparkle = brush.detailed
    ? Array.from({ length: 26 }, () =>
        ellipse(lightFrom * 6 + random.range(-26, 26), -72 + random.range(-22, 20), 1.6, 1, tone(lighten(leaf, 0.4)), {
          "fill-opacity": 0.6,
        }),
      ).join("")
    : "";
  return (
    path("M-5 0C-3 -14 -4 -30 -3 -52H3C4 -30 4 -14 6 0Z", bark) +
    stroke("M0 -34Q8 -44 17 -54M0 -40Q-8 -50 -15 -58", bark, 2.6) +
    blobs(0, 1.5, 1.02, tone(darken(leaf, 0.36))) +
    blobs(lightFrom * 2.4, -3.4, 0.84, tone(leaf)) +
    blobs(lightFrom * 5, -7.5, 0.5, tone(lighten(leaf, 0.24))) +
    sparkle
  );
}

export function paintPine(brush: Brush): string {
  const { tone, palette, lightFrom } = brush;
  const leaf = brush.colours[0] ?? mix(palette.foliage, "#1f5a4a", 0.4);
  const tiers = 5;
  const half = (s: number, colour: string) => {
    let d = "";
    for (let i = 0; i < tiers; i++) {
      const [top, low] = [-100 + i * 16, -70 + i * 15];
      const w = s * (9 + i * 3.9);
      d += `M0 ${top}L${num(w)} ${low}Q${num(w * 0.55)} ${low - 3} ${num(w * 0.45)} ${low + 1.5}Q${num(w * 0.2)} ${low - 2} 0 ${low + 2}Z`;
    }
    return path(d, colour);
  };
  const snow = palette.snowy
    ? path(
        Array.from(
          { length: tiers },
          (_, i) =>
            `M0 ${-100 + i * 16}l${num(5 + i * 1.7)} ${14 + i}q-4 -3 -5 1q-3 -3 -6 0q-2 -3 ${num(-(i * 1.2))} -1z`,
        ).join(""),
        tone("#f8fbff"),
        { "fill-opacity": 0.92 },
      )
    : "";
  return (
    rect(-2.5, -9, 5, 9, tone("#5b4030")) +
    half(-1, tone(lightFrom < 0 ? lighten(leaf, 0.14) : darken(leaf, 0.28))) +
    half(1, tone(lightFrom < 0 ? darken(leaf, 0.28) : lighten(leaf, 0.14))) +
    snow
  );
}

export function paintPalm(brush: Brush): string {
  const { tone, random } = brush;
  const leaf = brush.colours[0] ?? "#3b8a4d";
  const lean = random.range(-14, 14);
  const fronds = [-168, -140, -112, -84, -58, -30, -8, 18, 198].map((a, i) => {
    const own = i % 2 ? leaf : darken(leaf, 0.22);
    const frond =
      path("M0 0C14 -13 34 -12 46 4C34 -3 18 -3 0 3Z", tone(own)) +
      stroke("M1 0C14 -8 32 -8 44 3", tone(lighten(leaf, 0.25)), 0.7);
    return group(`translate(${num(lean)} -88) rotate(${num(a + random.range(-6, 6))})`, frond);
  });
  return (
    path(
      `M-4 0C-5 -36 ${num(lean - 5)} -60 ${num(lean - 2)} -89H${num(lean + 2)}C${num(lean - 1)} -60 2 -36 5 0Z`,
      tone("#8a6a48"),
    ) +
    fronds.join("") +
    circle(lean - 3, -85, 3, tone("#6b4a2c")) +
    circle(lean + 3, -84, 3, tone("#7a5632"))
  );
}

export function paintCactus(brush: Brush): string {
  const { tone, gradients } = brush;
  const leaf = brush.colours[0] ?? "#4f8f56";
  const skin = gradients.linear(
    [
      [0, tone(lighten(leaf, 0.22))],
      [0.5, tone(leaf)],
      [1, tone(darken(leaf, 0.35))],
    ],
    brush.lightFrom < 0 ? [0, 0, 1, 0] : [1, 0, 0, 0],
  );
  const arm = (s: number, y: number, h: number) =>
    path(
      `M${s * 6} ${y}H${s * 14}Q${s * 17} ${y} ${s * 17} ${y - 4}V${y - h}A5 5 0 0 ${s > 0 ? 1 : 0} ${s * 27} ${y - h}V${y - 2}Q${s * 27} ${y + 10} ${s * 15} ${y + 10}H${s * 6}Z`,
      skin,
    );
  return (
    arm(-1, -44, 22) +
    arm(1, -34, 30) +
    rect(-9, -100, 18, 100, skin, { rx: 9 }) +
    stroke("M-4 -92V0M0 -96V0M4 -92V0", tone(darken(leaf, 0.4)), 0.6, { "stroke-opacity": 0.5 }) +
    circle(0, -101, 4, tone("#ff8fb0"))
  );
}

export function paintFlower(brush: Brush): string {
  const { tone, random, colour } = brush;
  const stem = tone(mix(brush.palette.foliage, "#1f4a2a", 0.55));
  const bend = random.range(-9, 9);
  const kind = random.int(0, 2);
  const leaves = path(
    `M0 -22C${num(-16)} -24 -20 -36 -20 -42C-10 -40 -2 -32 0 -22ZM0 -14C14 -16 19 -27 20 -34C10 -32 3 -24 0 -14Z`,
    stem,
  );
  const head =
    kind === 2
      ? path(
          "M-14 -8C-18 -26 -12 -34 -10 -36C-7 -30 -5 -28 -4 -27C-3 -33 0 -36 0 -37C0 -36 3 -33 4 -27C5 -28 7 -30 10 -36C12 -34 18 -26 14 -8C9 0 -9 0 -14 -8Z",
          tone(colour),
        ) + path("M-5 -2C-9 -16 -3 -28 0 -31C3 -28 9 -16 5 -2Z", tone(lighten(colour, 0.25)))
      : daisy(brush, kind === 1 ? 13 : 7);
  return (
    stroke(`M0 0Q${num(bend * 0.2)} -40 ${num(bend)} -78`, stem, 2.6) +
    leaves +
    group(`translate(${num(bend)} ${kind === 2 ? -70 : -80})`, head)
  );
}

function daisy({ tone, colour, random }: Brush, petals: number): string {
  const turn = random.range(0, 40);
  const long = petals > 8 ? 19 : 17;
  const layer = (offset: number, own: string, scale: number) =>
    Array.from({ length: petals }, (_, i) =>
      group(
        `rotate(${num((i * 360) / petals + turn + offset)}) scale(${num(scale)})`,
        ellipse(0, -long * 0.62, petals > 8 ? 3.6 : 6.6, long * 0.5, own),
      ),
    ).join("");
  return (
    layer(180 / petals, tone(darken(colour, 0.2)), 1) +
    layer(0, tone(lighten(colour, 0.12)), 0.94) +
    circle(0, 0, 5.6, tone("#f5b82e")) +
    circle(-1, -1.2, 3.4, tone("#ffd95e"))
  );
}

export function paintMushroom(brush: Brush): string {
  const { tone, gradients } = brush;
  const cap = brush.colours[0] ?? "#d8443c";
  const dots = (
    [
      [-24, -62, 6],
      [2, -78, 7],
      [26, -60, 6],
      [-6, -56, 4],
      [38, -50, 3.5],
      [-38, -50, 3.5],
    ] as const
  )
    .map(([x, y, r]) => ellipse(x, y, r, r * 0.8, tone("#fff7ea")))
    .join("");
  return (
    path(
      "M-13 0C-17 -20 -10 -36 -11 -48H11C10 -36 17 -20 13 0Z",
      gradients.linear(
        [
          [0, tone("#d9ccb8")],
          [0.4, tone("#fff6e6")],
          [1, tone("#c9b9a2")],
        ],
        [0, 0, 1, 0],
      ),
    ) +
    path("M-48 -42C-40 -52 40 -52 48 -42C30 -36 -30 -36 -48 -42Z", tone("#e8d9c2")) +
    path(
      "M-48 -42C-50 -84 -22 -98 0 -98C22 -98 50 -84 48 -42C20 -50 -20 -50 -48 -42Z",
      gradients.linear([
        [0, tone(lighten(cap, 0.25))],
        [1, tone(darken(cap, 0.2))],
      ]),
    ) +
    dots
  );
}
