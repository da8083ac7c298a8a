import { darken, lighten } from "../colour.ts";
import type { Brush } from "../scene.ts";
import { circle, ellipse, num, path, rect, stroke } from "../svg.ts";

/** A quadcopter from the front and slightly above: two rotors behind the hull, two in front of it. */
export function paintDrone(brush: Brush): string {
  const { tone, colour, gradients } = brush;
  const second = brush.colours[1] ?? "#2a3040";
  const [shell, shellDark, frame] = [tone(lighten(colour, 0.12)), tone(darken(colour, 0.32)), tone(second)];
  const hull = gradients.linear([
    [0, tone(lighten(colour, 0.5))],
    [0.4, shell],
    [1, shellDark],
  ]);
  const metal = gradients.linear([
    [0, tone(lighten(second, 0.35))],
    [1, tone(darken(second, 0.3))],
  ]);
  const arm = (x: number, y: number, width: number) =>
    stroke(`M${num(x * 0.2)} -54Q${num(x * 0.55)} ${num(y - 1)} ${x} ${y}`, frame, width);
  const back = [-66, 66].map((x) => arm(x, -72, 5) + motor(brush, x, -72, 0.78, metal)).join("");
  const front = [-84, 84].map((x) => arm(x, -50, 7.5) + motor(brush, x, -50, 1, metal)).join("");
  const legs = [-1, 1].map((s) => stroke(`M${s * 20} -34L${s * 30} -12M${s * 18} -12H${s * 42}`, frame, 3.4)).join("");
  const body =
    path("M-42 -52C-40 -72 -20 -80 0 -80C20 -80 40 -72 42 -52C36 -38 18 -32 0 -32C-18 -32 -36 -38 -42 -52Z", hull) +
    path(
      "M-42 -52C-30 -45 -15 -43 0 -43C15 -43 30 -45 42 -52C36 -38 18 -32 0 -32C-18 -32 -36 -38 -42 -52Z",
      shellDark,
    ) +
    path("M-24 -68C-12 -74 12 -74 24 -68C14 -64 -14 -64 -24 -68Z", "#ffffff", { "fill-opacity": 0.35 });
  const eye =
    rect(-13, -46, 26, 22, metal, { rx: 8 }) +
    circle(0, -35, 8.5, tone("#10131c")) +
    circle(0, -35, 5, tone("#2b5b8a")) +
    circle(-2.4, -37.4, 1.8, "#ffffff", { "fill-opacity": 0.9 });
  const lamp = gradients.radial([
    [0, "#ffffff", 0.95],
    [0.3, colour, 0.7],
    [1, colour, 0],
  ]);
  const lamps = [-30, 30].map((x) => circle(x, -52, 9, lamp) + circle(x, -52, 2.6, "#fffdf0")).join("");
  return back + legs + body + eye + front + lamps;
}

function motor({ tone, gradients, palette }: Brush, x: number, y: number, size: number, metal: string): string {
  const disc = gradients.radial([
    [0, "#ffffff", 0.05],
    [0.72, "#ffffff", 0.22],
    [0.97, "#ffffff", 0.5],
    [1, "#ffffff", 0.12],
  ]);
  const beacon = x < 0 ? "#ff5148" : "#3dffa0";
  const glow = gradients.radial([
    [0, beacon, 0.85],
    [1, beacon, 0],
  ]);
  const blade = tone("#e8edf5");
  return (
    rect(x - 5 * size, y - 14 * size, 10 * size, 20 * size, metal, { rx: 3 }) +
    ellipse(x, y - 16 * size, 40 * size, 8.5 * size, disc) +
    path(
      `M${num(x - 38 * size)} ${num(y - 15 * size)}L${num(x)} ${num(y - 17.4 * size)}L${num(x + 38 * size)} ${num(y - 17.6 * size)}L${num(x)} ${num(y - 14.8 * size)}Z`,
      blade,
      { "fill-opacity": 0.55 },
    ) +
    ellipse(x, y - 17 * size, 4.6 * size, 2 * size, tone("#1b2030")) +
    (palette.lampsOn ? circle(x, y + 7 * size, 9 * size, glow) : "") +
    circle(x, y + 7 * size, 2.2 * size, beacon)
  );
}
