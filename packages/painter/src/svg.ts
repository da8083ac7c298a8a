/** Functions return markup. Numbers are rounded, so that the bytes are the same on every machine. */
export type Point = readonly [number, number];
type Stop = readonly [offset: number, colour: string, opacity?: number];
type Attributes = Readonly<Record<string, string | number | undefined>>;

export const num = (value: number): string => String(Math.round(value * 100) / 100);

function attributes(map: Attributes): string {
  let text = "";
  for (const [name, value] of Object.entries(map)) {
    if (value !== undefined) text += ` ${name}="${typeof value === "number" ? num(value) : value}"`;
  }
  return text;
}

const tag = (name: string, map: Attributes): string => `<${name}${attributes(map)}/>`;
export const path = (d: string, fill: string, more: Attributes = {}): string => tag("path", { d, fill, ...more });
export const circle = (cx: number, cy: number, r: number, fill: string, more: Attributes = {}): string =>
  tag("circle", { cx, cy, r, fill, ...more });
export const ellipse = (cx: number, cy: number, rx: number, ry: number, fill: string, more: Attributes = {}): string =>
  tag("ellipse", { cx, cy, rx, ry, fill, ...more });
export const rect = (
  x: number,
  y: number,
  width: number,
  height: number,
  fill: string,
  more: Attributes = {},
): string => tag("rect", { x, y, width, height, fill, ...more });
export const stroke = (d: string, colour: string, width: number, more: Attributes = {}): string =>
  tag("path", { d, fill: "none", stroke: colour, "stroke-width": width, "stroke-linecap": "round", ...more });
export const group = (transform: string, content: string, more: Attributes = {}): string =>
  `<g${attributes({ transform: transform || undefined, ...more })}>${content}</g>`;

export const polyline = (points: readonly Point[]): string =>
  points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${num(x)} ${num(y)}`).join("");
export const polygon = (points: readonly Point[], fill: string, more: Attributes = {}): string =>
  path(`${polyline(points)}Z`, fill, more);

/** A curve through all points (Catmull-Rom as Béziers). */
export function smooth(points: readonly Point[]): string {
  const [first] = points;
  if (!first) return "";
  let d = `M${num(first[0])} ${num(first[1])}`;
  for (let i = 0; i + 1 < points.length; i++) {
    const p1 = points[i] ?? first;
    const p2 = points[i + 1] ?? p1;
    const p0 = points[i - 1] ?? p1;
    const p3 = points[i + 2] ?? p2;
    d += `C${num(p1[0] + (p2[0] - p0[0]) / 6)} ${num(p1[1] + (p2[1] - p0[1]) / 6)} `;
    d += `${num(p2[0] - (p3[0] - p1[0]) / 6)} ${num(p2[1] - (p3[1] - p1[1]) / 6)} ${num(p2[0])} ${num(p2[1])}`;
  }
  return d;
}

/** Gradients are collected in `<defs>`; equal ones are written once. */
export interface Gradients {
  /** Top to bottom by default, over the box of the shape. */
  linear(stops: readonly Stop[], line?: readonly [number, number, number, number]): string;
  radial(stops: readonly Stop[], centre?: Point, radius?: number): string;
  markup(): string;
}

export function createGradients(): Gradients {
  const known = new Map<string, string>();
  const reference = (name: string, map: Attributes, stops: readonly Stop[]) => {
    const inner = stops
      .map(([offset, colour, opacity]) => tag("stop", { offset, "stop-color": colour, "stop-opacity": opacity }))
      .join("");
    const key = `${name}${attributes(map)}>${inner}</${name}`;
    const id = known.get(key) ?? `g${known.size}`;
    known.set(key, id);
    return `url(#${id})`;
  };
  return {
    linear: (stops, [x1, y1, x2, y2] = [0, 0, 0, 1]) => reference("linearGradient", { x1, y1, x2, y2 }, stops),
    radial: (stops, [cx, cy] = [0.5, 0.5], r = 0.5) => reference("radialGradient", { cx, cy, r }, stops),
    markup() {
      let text = "";
      for (const [key, id] of known) text += `<${key.replace(/^\w+/, (name) => `${name} id="${id}"`)}>`;
      return text;
    },
  };
}
