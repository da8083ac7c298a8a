/** Colours are `#rrggbb` strings. They are mixed in OKLab, which is perceptually uniform. */
type Triple = [number, number, number];

export function mix(from: string, to: string, amount: number): string {
  const t = Math.min(1, Math.max(0, amount));
  const a = toOklab(from);
  const b = toOklab(to);
  return fromOklab([a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t]);
}

export const lighten = (colour: string, amount: number): string => mix(colour, "#fffdf6", amount);
export const darken = (colour: string, amount: number): string => mix(colour, "#0a0f1f", amount);

/** `hue` in degrees and `light` are added; `chroma` is a factor. */
export function shift(colour: string, change: { hue?: number; chroma?: number; light?: number }): string {
  const [light, a, b] = toOklab(colour);
  const angle = ((change.hue ?? 0) * Math.PI) / 180;
  const scale = change.chroma ?? 1;
  const turned: Triple = [
    Math.min(1, Math.max(0, light + (change.light ?? 0))),
    (a * Math.cos(angle) - b * Math.sin(angle)) * scale,
    (a * Math.sin(angle) + b * Math.cos(angle)) * scale,
  ];
  return fromOklab(turned);
}

/** `hue` in degrees; `light` and `chroma` from 0 to 1. */
export function oklch(light: number, chroma: number, hue: number): string {
  const angle = (hue * Math.PI) / 180;
  return fromOklab([light, chroma * Math.cos(angle), chroma * Math.sin(angle)]);
}

export function lightnessOf(colour: string): number {
  return toOklab(colour)[0];
}

export function chromaOf(colour: string): number {
  const [, a, b] = toOklab(colour);
  return Math.hypot(a, b);
}

export function fromRgb(r: number, g: number, b: number): string {
  return `#${[r, g, b]
    .map((v) =>
      Math.round(Math.min(255, Math.max(0, v)))
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

function toRgb(colour: string): Triple {
  const value = Number.parseInt(colour.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

const toLinear = (v: number) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
const toGamma = (v: number) => (v <= 0.0031308 ? v * 12.92 : 1.055 * v ** (1 / 2.4) - 0.055);

function toOklab(colour: string): Triple {
  const [r, g, b] = toRgb(colour).map((v) => toLinear(v / 255)) as Triple;
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function fromOklab([light, a, b]: Triple): string {
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const rgb: Triple = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const [r, g, bl] = rgb.map((v) => toGamma(Math.min(1, Math.max(0, v))) * 255) as Triple;
  return fromRgb(r, g, bl);
}
