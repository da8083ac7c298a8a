import { hasWeather } from "../palette.ts";
import type { Scene } from "../scene.ts";
import { num, type Point, polyline, rect, smooth, stroke } from "../svg.ts";

export function paintRainbow({ width, horizon, unit }: Scene): string {
  const bands = ["#e8534a", "#f39a3e", "#f7dc57", "#63b96a", "#4a90d9", "#7a5cc0"];
  return bands
    .map((colour, i) => {
      const r = width * 0.46 - i * unit * 1.9;
      return stroke(
        `M${num(width / 2 - r)} ${num(horizon)}A${num(r)} ${num(Math.min(r, horizon * 0.86 - i * unit * 1.9))} 0 0 1 ${num(width / 2 + r)} ${num(horizon)}`,
        colour,
        unit * 2,
        { "stroke-opacity": 0.42, "stroke-linecap": "butt" },
      );
    })
    .join("");
}

export function paintAurora({ width, horizon, gradients, random, palette }: Scene): string {
  const own = random.fork("aurora");
  const parts: string[] = [];
  for (let band = 0; band < 4; band++) {
    const colour = own.pick(["#4dffb0", "#39d6c0", "#8f7bff", palette.accents[0]]);
    const base = horizon * own.range(0.45, 0.8);
    const [phase, bend] = [own.range(0, 6), own.range(2.2, 4.5)];
    const fill = gradients.linear([
      [0, colour, 0],
      [0.75, colour, 0.17],
      [1, colour, 0.01],
    ]);
    for (let i = 0; i < 90; i++) {
      const t = i / 90;
      const x = width * (t * 1.1 - 0.05);
      const y = base + Math.sin(t * bend * 3 + phase) * horizon * 0.09;
      const tall = horizon * (0.28 + 0.22 * Math.sin(t * 17 + phase * 2) ** 2);
      parts.push(rect(x, y - tall, width * 0.036, tall, fill));
    }
  }
  return parts.join("");
}

/** A fork of lightning from the clouds to the horizon. */
export function paintLightning(scene: Scene): string {
  if (!hasWeather(scene.reading, "storm")) return "";
  const own = scene.random.fork("lightning");
  const bolts = Array.from({ length: 2 }, () => {
    const points: Point[] = [[scene.width * own.range(0.15, 0.85), scene.horizon * 0.25]];
    for (let i = 1; i <= 10; i++) {
      const last = points[i - 1] ?? [0, 0];
      points.push([
        last[0] + own.range(2, 6) * (own.chance(0.5) ? -1 : 1) * scene.unit,
        scene.horizon * (0.25 + 0.073 * i),
      ]);
    }
    const d = polyline(points);
    return stroke(d, "#cfe0ff", scene.unit * 1.6, { "stroke-opacity": 0.25 }) + stroke(d, "#ffffff", scene.unit * 0.4);
  });
  return bolts.join("");
}

/** A faint trail of wind, for an empty sky. */
export function paintWind(scene: Scene): string {
  const own = scene.random.fork("wind");
  return Array.from({ length: 3 }, () => {
    const [x, y] = [own.range(0.05, 0.7) * scene.width, own.range(0.12, 0.6) * scene.horizon];
    const long = own.range(10, 22) * scene.unit;
    const points: Point[] = [
      [x, y],
      [x + long * 0.35, y - scene.unit * 0.6],
      [x + long * 0.7, y + scene.unit * 0.4],
      [x + long, y],
    ];
    return stroke(smooth(points), scene.palette.light, scene.unit * 0.14, { "stroke-opacity": 0.35 });
  }).join("");
}
