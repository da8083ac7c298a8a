import { chromaOf, darken, lighten, lightnessOf, mix, oklch, shift } from "./colour.ts";
import type { Mood, Time, Weather } from "./lexicon.ts";
import { times } from "./lexicon.ts";
import type { Random } from "./random.ts";
import type { Reading } from "./read-prompt.ts";

/** The colours of a picture, so that everything has the same light. */
export interface Palette {
  time: Time;
  /** Zenith to horizon. */
  sky: readonly [string, string, string, string];
  /** Distant things fade to this colour. */
  haze: string;
  light: string;
  shade: string;
  /** Share of `shade` in every colour, from 0 at noon to about 0.6 at night. */
  dim: number;
  grass: string;
  foliage: string;
  rock: string;
  sand: string;
  water: string;
  accents: readonly [string, ...string[]];
  lampsOn: boolean;
  starlight: number;
  snowy: boolean;
}

type Light = Pick<Palette, "sky" | "light" | "shade" | "dim" | "lampsOn" | "starlight">;

const lights: Record<Time, Light> = {
  dawn: {
    sky: ["#34477f", "#8578b4", "#f0a7a6", "#ffe0b0"],
    light: "#ffd3a6",
    shade: "#4a4476",
    dim: 0.22,
    lampsOn: false,
    starlight: 0.15,
  },
  morning: {
    sky: ["#3d8fd6", "#86c3ec", "#cfe8ee", "#fdf0d2"],
    light: "#fff1cf",
    shade: "#3f5f8a",
    dim: 0.06,
    lampsOn: false,
    starlight: 0,
  },
  day: {
    sky: ["#1f6fc4", "#58a8e6", "#a9d8f2", "#e8f5f5"],
    light: "#fffbe8",
    shade: "#35598c",
    dim: 0.02,
    lampsOn: false,
    starlight: 0,
  },
  golden: {
    sky: ["#4f76a8", "#b9a78f", "#f3bd6c", "#ffe3a0"],
    light: "#ffd479",
    shade: "#6a4a4a",
    dim: 0.14,
    lampsOn: false,
    starlight: 0,
  },
  sunset: {
    sky: ["#2b2360", "#8c3a7c", "#f26a52", "#ffc766"],
    light: "#ffb266",
    shade: "#3b2358",
    dim: 0.3,
    lampsOn: true,
    starlight: 0.12,
  },
  dusk: {
    sky: ["#131c42", "#3c3b7c", "#93609a", "#f0a58e"],
    light: "#f0b0a0",
    shade: "#1f2350",
    dim: 0.42,
    lampsOn: true,
    starlight: 0.45,
  },
  night: {
    sky: ["#050a1f", "#0d1b42", "#1d3a6b", "#3a6a90"],
    light: "#bcd4ff",
    shade: "#0a1433",
    dim: 0.55,
    lampsOn: true,
    starlight: 1,
  },
};

/** Sets of matching accents for prompts without colours. */
const harmonies: readonly [readonly string[], ...(readonly string[])[]] = [
  ["#f25f4c", "#ffb238", "#2ec4b6", "#f7ede2"],
  ["#ff6b6b", "#4ecdc4", "#ffe66d", "#556fb5"],
  ["#e4572e", "#f3a712", "#29b6d1", "#a8c686"],
  ["#ef476f", "#ffd166", "#06d6a0", "#3aa0d8"],
  ["#d8315b", "#fca311", "#5fa8d3", "#fffaff"],
  ["#ff7f51", "#ffbf69", "#6fb3b8", "#9b5de5"],
];

export function createPalette(reading: Reading, references: readonly string[], random: Random): Palette {
  const time = reading.time ?? random.pick(defaultTimes(reading));
  const base = lights[time];
  // A slight change of hue, so that no two days look alike.
  const turn = random.range(-9, 9);
  const sky = tinted(base.sky, reading, references, turn);
  const snowy = reading.weather.includes("snow");
  const dull = reading.weather.some((w) => w === "rain" || w === "storm" || w === "overcast") ? 0.5 : 0;
  const grey = reading.weather.includes("storm") ? "#3b4456" : "#8b97a5";
  const clouded = sky.map((c) => mix(c, mix(grey, base.shade, base.dim), dull)) as unknown as Palette["sky"];
  const palette: Palette = {
    ...base,
    time,
    sky: clouded,
    haze: mix(clouded[3], clouded[2], 0.35),
    grass: snowy ? "#e9f0f6" : random.pick(["#6fa64a", "#83ab45", "#5b9a5a", "#8fae52"]),
    foliage: snowy ? "#5c8f80" : random.pick(["#2f7d4f", "#3b8451", "#2d7a66", "#4d8b3f"]),
    rock: random.pick(["#6b7690", "#7a7590", "#5f7488", "#84748a"]),
    sand: random.pick(["#dba05a", "#e0ad6c", "#d08c52"]),
    water: random.pick(["#1f7fb0", "#1f8fa8", "#2a74b8"]),
    accents: accentsOf(reading, references, random),
    snowy,
  };
  return reading.moods.reduce(withMood, palette);
}

/** Times that suit the subjects of a prompt without a time. */
function defaultTimes(reading: Reading): readonly [Time, ...Time[]] {
  const asks = (...list: string[]) => reading.mentions.some(({ subject }) => list.includes(subject));
  if (asks("star", "moon", "space", "planet", "comet", "ufo") || reading.weather.includes("aurora")) return ["night"];
  if (reading.weather.includes("rainbow")) return ["day", "morning"];
  if (asks("sun", "rabbit", "flower", "butterfly")) return ["day", "morning", "golden"];
  const all = Object.keys(times) as Time[];
  return ["sunset", ...all.filter((t) => t !== "night"), "morning", "day"];
}

function tinted(sky: Light["sky"], reading: Reading, references: readonly string[], turn: number): Palette["sky"] {
  const asked = reading.sky;
  const [own] = references;
  return sky.map((colour, i) => {
    const turned = shift(colour, { hue: turn });
    const named = asked[Math.min(asked.length - 1, Math.floor((i * asked.length) / 4))];
    if (named) return mix(shift(named, { light: lightnessOf(colour) - lightnessOf(named) }), named, 0.45);
    const free = reading.colours[i % Math.max(1, reading.colours.length)];
    const tint = free ?? own;
    if (!tint) return turned;
    // A tint changes only the hue, so that night stays dark.
    return mix(turned, shift(tint, { light: lightnessOf(turned) - lightnessOf(tint) }), free ? 0.5 : 0.35);
  }) as unknown as Palette["sky"];
}

function accentsOf(reading: Reading, references: readonly string[], random: Random): Palette["accents"] {
  const named = reading.colours;
  const drawn = references.filter((c) => chromaOf(c) > 0.03 && lightnessOf(c) > 0.35);
  const harmony = random.shuffle(random.pick(harmonies));
  const list = [...named, ...drawn, ...harmony];
  return [list[0] ?? "#f25f4c", ...list.slice(1)];
}

function withMood(palette: Palette, mood: Mood): Palette {
  const change: Record<Mood, (colour: string) => string> = {
    pastel: (c) => mix(shift(c, { chroma: 0.75 }), "#fff4ee", 0.34 - palette.dim * 0.3),
    neon: (c) => shift(c, { chroma: 1.35 }),
    vivid: (c) => shift(c, { chroma: 1.35, light: 0.02 }),
    mono: (c) => shift(c, { chroma: 0 }),
    vintage: (c) => mix(shift(c, { chroma: 0.55 }), "#c79a5b", 0.25),
  };
  const apply = change[mood];
  // Neon needs dark surroundings.
  const land = (colour: string) => (mood === "neon" ? mix(colour, "#2a1a66", 0.86) : apply(colour));
  const list = (colours: readonly string[]) => colours.map(apply);
  return {
    ...palette,
    ...Object.fromEntries((["light", "shade"] as const).map((k) => [k, apply(palette[k])])),
    ...Object.fromEntries((["grass", "foliage", "rock", "sand", "water"] as const).map((k) => [k, land(palette[k])])),
    haze: mood === "neon" ? mix(palette.haze, palette.sky[1], 0.4) : apply(palette.haze),
    lampsOn: palette.lampsOn || mood === "neon",
    sky: list(palette.sky) as unknown as Palette["sky"],
    accents:
      mood === "neon"
        ? ["#ff3d9a", "#21e6ff", "#b66bff", "#f9ff4d"]
        : (list(palette.accents) as unknown as Palette["accents"]),
  };
}

/** The colour under the scene's light and haze. `depth` is 0 near the viewer and 1 at the horizon. */
export function seen(palette: Palette, colour: string, depth: number): string {
  const dimmed = mix(colour, palette.shade, palette.dim);
  const warmed = mix(dimmed, palette.light, 0.08);
  return mix(warmed, palette.haze, Math.min(0.94, depth * 0.9));
}

/** Colours of abstract pictures: steps around the hue circle from a seeded start. */
export function freePalette(reading: Reading, references: readonly string[], random: Random): [string, ...string[]] {
  const given = [...reading.sky, ...reading.colours, ...references.slice(0, 5)];
  const start = random.range(0, 360);
  const step = random.pick([24, 38, 95, 137]);
  const own = Array.from({ length: 6 }, (_, i) =>
    oklch(random.range(0.5, 0.85), random.range(0.09, 0.17), start + i * step),
  );
  const [first, ...rest] = given.length > 0 ? given.flatMap((c) => [c, lighten(c, 0.35), darken(c, 0.35)]) : own;
  return [first ?? "#2f6fe0", ...rest];
}

export const hasWeather = (reading: Reading, ...kinds: Weather[]): boolean =>
  reading.weather.some((w) => kinds.includes(w));
