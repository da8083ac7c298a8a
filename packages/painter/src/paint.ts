import { createHash } from "node:crypto";
import sharp from "sharp";
import { composeAbstract } from "./compose-abstract.ts";
import { composeScene } from "./compose-scene.ts";
import { finish } from "./finish.ts";
import { layOutPanels, paintPanels } from "./layers/panels.ts";
import { subjects } from "./lexicon.ts";
import { createPalette, freePalette } from "./palette.ts";
import { createRandom, type Random } from "./random.ts";
import { type Reading, readPrompt } from "./read-prompt.ts";
import type { Reference } from "./references.ts";
import { asks, type Scene } from "./scene.ts";
import { createGradients } from "./svg.ts";
import { paintWatermark } from "./watermark.ts";

export interface Painting {
  prompt: string;
  width: number;
  height: number;
  watermark: boolean;
  mode: "standard" | "fast";
}

/**
 * Returns a JPEG; the same arguments give the same bytes. `proceed` runs between steps of some milliseconds: it may throw
 * to cancel, and may wait to let other work through.
 */
export async function paint(
  painting: Painting,
  references: readonly Reference[],
  proceed: () => Promise<void>,
): Promise<Uint8Array> {
  const { width, height } = painting;
  const detailed = painting.mode === "standard";
  const random = createRandom(seedOf(painting.prompt, references));
  const svg = drawSvg(painting, references, random);
  await proceed();
  // Ten embedded references exceed libxml2's limit for untrusted documents; this document is ours.
  const { data } = await sharp(Buffer.from(svg), { unlimited: true })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  await proceed();
  await finish(
    data,
    width,
    height,
    { bloom: detailed, vignette: detailed ? 0.55 : 0.3, grain: detailed ? 3.2 : 1 },
    random,
    proceed,
  );
  await proceed();
  return sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 90, chromaSubsampling: "4:4:4" })
    .toUint8Array()
    .then(({ data: bytes }) => bytes);
}

/** Size, mode and watermark do not change which picture it is, so they are not part of the seed. */
function seedOf(prompt: string, references: readonly Reference[]): string {
  const hash = createHash("sha256").update(prompt.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim());
  for (const { digest } of references) hash.update(`\0${digest}`);
  return hash.digest("hex");
}

/** Exported for its test. */
export function drawSvg(painting: Painting, references: readonly Reference[], random: Random): string {
  const { width, height } = painting;
  const unit = Math.min(width, height) / 100;
  const detailed = painting.mode === "standard";
  const gradients = createGradients();
  const reading = readPrompt(painting.prompt);
  const tints = references.flatMap(({ colours }) => colours.slice(0, references.length > 3 ? 1 : 2));
  const panels = layOutPanels({ width, height }, references);
  const abstract =
    reading.mentions.length + reading.weather.length === 0 && reading.time === undefined && reading.sky.length === 0;
  const horizon = horizonOf(reading, width, height);
  let body: string;
  let floor: number | undefined;
  let shade = "#1a1f33";
  if (abstract) {
    const colours = freePalette(reading, tints, random.fork("palette"));
    body = composeAbstract({ width, height, unit, colours, random, gradients, detailed });
  } else {
    const palette = createPalette(reading, tints, random.fork("palette"));
    const ground = groundOf(reading);
    const sun = sunOf(reading, palette.time, width, height, horizon, unit, random.fork("sun"));
    const scene: Scene = { width, height, unit, horizon, sun, reading, palette, random, gradients, detailed, ground };
    body = composeScene(scene, panels);
    floor = ground === "void" ? undefined : horizon + (height - horizon) * 0.3;
    shade = palette.shade;
  }
  body += paintPanels({ width, height, unit, random, gradients, floor, shade }, panels);
  if (painting.watermark) body += paintWatermark(width, height);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><defs>${gradients.markup()}</defs>${body}</svg>`;
}

function groundOf(reading: Reading): Scene["ground"] {
  const earthly = reading.mentions.some(
    ({ subject }) => !["space", "planet", "star", "comet", "rocket", "ufo", "moon", "sun"].includes(subject),
  );
  if (asks(reading, "space") && !earthly) return "void";
  if (
    asks(reading, "sea", "boat", "ship", "whale", "fish") ||
    (asks(reading, "lighthouse") && reading.mentions.length === 1)
  )
    return "water";
  // A skyline without a foreground is reflected in a river.
  const before = reading.mentions.some(({ subject }) => ["ground", "meadow"].includes(subjects[subject].place));
  if (asks(reading, "city") && !before && !asks(reading, "hill", "road", "forest", "desert")) return "water";
  if (asks(reading, "bridge") && !asks(reading, "hill", "road", "car", "desert")) return "water";
  return asks(reading, "desert", "cactus") ? "desert" : "land";
}

function horizonOf(reading: Reading, width: number, height: number): number {
  const low =
    asks(reading, "balloon", "planet", "star", "moon", "mountain", "city", "tower") ||
    reading.weather.includes("aurora");
  const skyline =
    asks(reading, "city") && !reading.mentions.some(({ subject }) => subjects[subject].place === "ground");
  if (skyline) return height * 0.76;
  return height * (height > width || low ? 0.66 : 0.58);
}

function sunOf(
  reading: Reading,
  time: string,
  width: number,
  height: number,
  horizon: number,
  unit: number,
  own: Random,
): Scene["sun"] {
  const asked = reading.mentions.find(({ subject }) => subject === "sun" || subject === "moon");
  const low = ["dawn", "golden", "sunset", "dusk"].includes(time);
  const x = asked?.side ?? own.pick([own.range(0.18, 0.36), own.range(0.64, 0.82)]);
  const y = low ? horizon - height * own.range(0.05, 0.16) : horizon * own.range(0.16, 0.3);
  return { x: x * width, y, radius: unit * (asked ? 9 : low ? 6.5 : time === "night" ? 5 : 4.4) };
}
