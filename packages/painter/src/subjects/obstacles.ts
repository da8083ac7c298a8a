import { darken, lighten } from "../colour.ts";
import type { Brush } from "../scene.ts";
import { ellipse, num, path, rect, stroke } from "../svg.ts";

/** Two halves of an obstacle. Flyers inside it are painted between them. */
export interface Halves {
  back: string;
  front: string;
}

/** A racing gate: a ring, a square or an arch, striped, with a lit inner edge. */
export function paintGate(brush: Brush): Halves {
  const shape = brush.random.int(0, 2);
  return shape === 0 ? ring(brush) : frame(brush, shape === 2);
}

function ring({ tone, colour, colours, gradients, palette }: Brush): Halves {
  const second = colours[1] ?? "#f7f4ec";
  const glow = lighten(colour, 0.35);
  const arc = (from: number, to: number, r: number) => {
    const at = (a: number) => `${num(Math.sin(a) * r * 0.94)} ${num(-56 - Math.cos(a) * r)}`;
    return `M${at(from)}A${num(r * 0.94)} ${num(r)} 0 0 1 ${at(to)}`;
  };
  const half = (start: number, shaded: number) => {
    const parts: string[] = [];
    for (let i = 0; i < 8; i++) {
      const from = start + (i / 8) * Math.PI;
      const own = i % 2 ? second : colour;
      parts.push(
        stroke(arc(from, from + Math.PI / 8 + 0.01, 40), tone(darken(own, shaded)), 7.4, { "stroke-linecap": "butt" }),
      );
    }
    const whole = arc(start, start + Math.PI, 40);
    parts.push(stroke(arc(start, start + Math.PI, 42.4), "#ffffff", 0.9, { "stroke-opacity": 0.35 }));
    if (palette.lampsOn) parts.push(stroke(whole, glow, 13, { "stroke-opacity": 0.16 }));
    parts.push(
      stroke(arc(start, start + Math.PI, 36), glow, 1.6),
      stroke(arc(start, start + Math.PI, 36), "#ffffff", 0.6),
    );
    return parts.join("");
  };
  const post = gradients.linear(
    [
      [0, tone("#8a93a6")],
      [1, tone("#3d4458")],
    ],
    [0, 0, 1, 0],
  );
  const stand = rect(-2.6, -17, 5.2, 16, post) + path("M-14 0L-4 -6H4L14 0Z", tone("#3d4458"));
  return { back: stand + half(Math.PI, 0.28), front: half(0, 0) };
}

function frame({ tone, colour, colours, gradients, palette, random }: Brush, arched: boolean): Halves {
  const second = colours[1] ?? "#f7f4ec";
  const glow = lighten(colour, 0.35);
  const bars = (x: number, shaded: number) => {
    const body = gradients.linear(
      [
        [0, tone(lighten(colour, 0.2 - shaded))],
        [1, tone(darken(colour, 0.25 + shaded))],
      ],
      [0, 0, 1, 0],
    );
    const stripes = Array.from({ length: 6 }, (_, i) => `M${num(x - 4.5)} ${-12 - i * 12}l9 -5v5.500l-9 5z`).join("");
    return rect(x - 4.5, -84, 9, 84, body, { rx: 1.5 }) + path(stripes, tone(darken(second, shaded)));
  };
  const foot = (x: number) => path(`M${x - 11} 0L${x - 5} -5H${x + 5}L${x + 11} 0Z`, tone("#363c4d"));
  const beam = gradients.linear([
    [0, tone(lighten(colour, 0.3))],
    [1, tone(darken(colour, 0.3))],
  ]);
  const chevrons = Array.from({ length: 5 }, (_, i) => `M${-34 + i * 15} -94l5 5l-5 5h5l5 -5l-5 -5z`).join("");
  const top = arched
    ? stroke("M-42 -78C-42 -104 42 -104 42 -78", beam, 9, { "stroke-linecap": "butt" }) +
      stroke("M-40 -80C-38 -101 38 -101 40 -80", tone(second), 1.8, { "stroke-dasharray": "8 6" })
    : rect(-48, -97, 96, 14, beam, { rx: 3 }) + path(chevrons, tone(second));
  const inner = arched ? "M-37 -6V-78C-37 -97 37 -97 37 -78V-6" : "M-37 -6V-82H37V-6";
  const neon =
    (palette.lampsOn ? stroke(inner, glow, 7, { "stroke-opacity": 0.2 }) : "") +
    stroke(inner, glow, 1.7) +
    stroke(inner, "#ffffff", 0.6);
  const flag = random.chance(0.4) ? path("M0 -97V-116L16 -110L0 -104Z", tone(second)) : "";
  return { back: foot(-42) + bars(-42, 0.16), front: foot(42) + bars(42, 0) + top + neon + flag };
}

export function paintPillar({ tone, colour, colours, gradients, random, palette }: Brush): string {
  const base = colours[0] ?? random.pick(["#c9c3d4", "#b8c0cf", colour]);
  const band = colours[1] ?? colour;
  const round = (c: string) =>
    gradients.linear(
      [
        [0, tone(darken(c, 0.35))],
        [0.3, tone(lighten(c, 0.35))],
        [0.62, tone(c)],
        [1, tone(darken(c, 0.45))],
      ],
      [0, 0, 1, 0],
    );
  const bands = [22, 46, 70].map((y) => rect(-7, -y - 7, 14, 7, round(band))).join("");
  const crown = palette.lampsOn
    ? ellipse(
        0,
        -97,
        13,
        6,
        gradients.radial([
          [0, lighten(band, 0.5), 0.9],
          [1, band, 0],
        ]),
      )
    : "";
  return (
    ellipse(0, 0, 12, 3, tone("#1d2233"), { "fill-opacity": 0.4 }) +
    rect(-10, -4, 20, 5, round(darken(base, 0.2)), { rx: 1.5 }) +
    rect(-7, -96, 14, 93, round(base)) +
    bands +
    ellipse(0, -96, 7, 2, tone(lighten(base, 0.5))) +
    crown
  );
}
