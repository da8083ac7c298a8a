import type { Palette } from "./palette.ts";
import { seen } from "./palette.ts";
import type { Random } from "./random.ts";
import type { Mention, Reading } from "./read-prompt.ts";
import type { Gradients } from "./svg.ts";

/** Shared by all layers of a picture. */
export interface Scene {
  width: number;
  height: number;
  /** A hundredth of the shorter side. */
  unit: number;
  /** Lower edge of the sky. */
  horizon: number;
  /** Position of the sun or moon, the source of light. */
  sun: { x: number; y: number; radius: number };
  reading: Reading;
  palette: Palette;
  random: Random;
  gradients: Gradients;
  /** True for `optimize_prompt_mode: standard`. */
  detailed: boolean;
  ground: "land" | "water" | "desert" | "void";
}

/** A subject is drawn with its feet at 0/0, 100 units tall, upwards negative. */
export interface Brush {
  random: Random;
  /** The subject's first colour. */
  colour: string;
  colours: readonly string[];
  palette: Palette;
  gradients: Gradients;
  detailed: boolean;
  /** -1: light from the left, 1: from the right. */
  lightFrom: -1 | 1;
  /** The colour at this subject's distance. */
  tone(colour: string): string;
}

export function createBrush(
  scene: Scene,
  mention: Mention,
  x: number,
  depth: number,
  random: Random,
  at: number,
): Brush {
  const { palette } = scene;
  const own = mention.colours;
  const colour =
    own[at % Math.max(1, own.length)] ?? palette.accents[at % palette.accents.length] ?? palette.accents[0];
  return {
    random,
    colour,
    colours: own,
    palette,
    gradients: scene.gradients,
    detailed: scene.detailed,
    lightFrom: scene.sun.x < x ? -1 : 1,
    // Subjects keep more of their colour than the land, so that a red car looks red at dusk.
    tone: (c) => seen({ ...palette, dim: palette.dim * 0.72 }, c, depth),
  };
}

export const asks = (reading: Reading, ...subjects: Mention["subject"][]): boolean =>
  reading.mentions.some(({ subject }) => subjects.includes(subject));

export const mentionOf = (reading: Reading, subject: Mention["subject"]): Mention | undefined =>
  reading.mentions.find((mention) => mention.subject === subject);
