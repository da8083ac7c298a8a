/** Every word the painter understands. A test compares it with `docs/reference/gantry-image.md`. */
type Place = "backdrop" | "sky" | "ground" | "water" | "air" | "meadow";

interface SubjectRow {
  words: readonly string[];
  place: Place;
  /** Share of the picture's shorter side; `width` is in heights, `many` the number that a bare plural means. */
  height: number;
  width: number;
  many: number;
  most: number;
}

const row = (place: Place, words: string, height = 0.3, width = 1, many = 3, most = 12): SubjectRow => ({
  words: words.split(" "),
  place,
  height,
  width,
  many,
  most,
});

export const subjects = {
  drone: row("air", "drone quadcopter quadrocopter multicopter uav", 0.17, 2.1, 4, 14),
  bird: row("air", "bird gull seagull swallow crow raven eagle hawk goose dove", 0.09, 2.2, 7, 24),
  plane: row("air", "plane airplane aeroplane aircraft jet glider", 0.12, 2.6, 2, 8),
  balloon: row("air", "balloon airship zeppelin", 0.34, 0.78, 5, 12),
  rocket: row("air", "rocket spaceship spacecraft shuttle", 0.55, 0.4, 2, 6),
  ufo: row("air", "ufo saucer alien", 0.16, 2.2, 3, 10),
  butterfly: row("air", "butterfly moth", 0.12, 1.2, 6, 20),
  kite: row("air", "kite", 0.2, 0.7, 4, 12),

  gate: row("ground", "gate ring hoop arch archway portal loop", 0.42, 0.95, 5, 10),
  pillar: row("ground", "pillar column pylon pole post", 0.55, 0.22, 6, 14),
  obstacle: row("ground", "obstacle hurdle barrier slalom course racecourse", 0.42, 0.95, 6, 10),
  house: row("ground", "house home cottage cabin hut barn farmhouse farm", 0.32, 1.25, 3, 9),
  castle: row("ground", "castle fortress palace citadel", 0.5, 1.15, 2, 3),
  lighthouse: row("ground", "lighthouse beacon", 0.56, 0.42, 2, 4),
  windmill: row("ground", "windmill mill turbine", 0.46, 0.7, 3, 8),
  tower: row("ground", "tower skyscraper highrise", 0.66, 0.3, 4, 10),
  tree: row("ground", "tree oak maple birch apple cherry", 0.42, 0.85, 4, 16),
  pine: row("ground", "pine fir spruce conifer", 0.46, 0.5, 6, 20),
  palm: row("ground", "palm", 0.46, 0.8, 3, 10),
  cactus: row("ground", "cactus saguaro", 0.3, 0.6, 4, 12),
  car: row("ground", "car automobile taxi van truck bus", 0.15, 2.5, 3, 8),
  train: row("ground", "train locomotive tram railway railroad", 0.14, 6, 1, 2),
  person: row(
    "ground",
    "person man woman child kid boy girl human traveller traveler hiker people someone",
    0.26,
    0.4,
    4,
    14,
  ),
  robot: row("ground", "robot android mech automaton", 0.36, 0.75, 3, 10),
  cat: row("ground", "cat kitten kitty", 0.24, 0.75, 3, 10),
  dog: row("ground", "dog puppy hound", 0.26, 0.8, 3, 10),
  rabbit: row("ground", "rabbit bunny hare", 0.2, 0.7, 4, 12),
  tent: row("ground", "tent camp campsite yurt", 0.18, 1.5, 3, 9),

  boat: row("water", "boat sailboat yacht sail dinghy canoe", 0.34, 0.8, 3, 10),
  ship: row("water", "ship ferry freighter liner vessel", 0.24, 2.6, 2, 5),
  whale: row("water", "whale orca dolphin", 0.2, 2, 2, 6),
  fish: row("water", "fish salmon koi", 0.1, 1.8, 5, 16),

  flower: row("meadow", "flower blossom bloom rose tulip daisy poppy sunflower lavender", 0.22, 0.5, 9, 24),
  mushroom: row("meadow", "mushroom toadstool", 0.14, 0.9, 5, 14),

  mountain: row("backdrop", "mountain peak alp alps summit ridge volcano cliff"),
  hill: row("backdrop", "hill meadow field grass grassland countryside valley prairie garden park"),
  forest: row("backdrop", "forest wood woodland jungle grove"),
  city: row("backdrop", "city town skyline downtown metropolis building street"),
  sea: row("backdrop", "sea ocean water lake coast shore bay harbor harbour beach river wave island"),
  desert: row("backdrop", "desert dune sahara sand"),
  road: row("backdrop", "road highway path track route motorway"),
  bridge: row("backdrop", "bridge viaduct aqueduct"),
  space: row("backdrop", "space galaxy cosmos universe nebula orbit"),

  sun: row("sky", "sun", 0.2, 1, 2, 3),
  moon: row("sky", "moon", 0.2, 1, 2, 3),
  star: row("sky", "star constellation", 0.02, 1, 60, 300),
  planet: row("sky", "planet saturn jupiter mars", 0.3, 1.6, 3, 5),
  cloud: row("sky", "cloud", 0.1, 3, 6, 14),
  comet: row("sky", "comet meteor asteroid", 0.12, 2, 4, 10),
} as const satisfies Record<string, SubjectRow>;

export type Subject = keyof typeof subjects;

/** Applies to the whole picture. */
export const weathers = {
  rain: ["rain", "rainy", "raining", "drizzle", "downpour"],
  snow: ["snow", "snowy", "snowing", "blizzard", "winter", "snowfall", "icy", "ice"],
  fog: ["fog", "foggy", "mist", "misty", "haze", "hazy", "smoke", "smoky"],
  storm: ["storm", "stormy", "lightning", "thunder", "thunderstorm", "tempest"],
  rainbow: ["rainbow"],
  aurora: ["aurora", "northern-lights", "borealis"],
  overcast: ["overcast", "cloudy", "gloomy", "grey-sky"],
} as const;
export type Weather = keyof typeof weathers;

export const times = {
  dawn: ["dawn", "sunrise", "daybreak"],
  morning: ["morning", "spring"],
  day: ["day", "daytime", "daylight", "noon", "midday", "afternoon", "sunny", "summer"],
  golden: ["golden-hour", "autumn", "fall"],
  sunset: ["sunset", "sundown"],
  dusk: ["dusk", "twilight", "evening", "blue-hour"],
  night: ["night", "midnight", "nighttime", "moonlight", "moonlit", "starry", "nocturnal", "dark"],
} as const;
export type Time = keyof typeof times;

export const moods = {
  pastel: ["pastel", "soft", "gentle", "dreamy", "calm", "quiet", "serene"],
  neon: ["neon", "cyberpunk", "synthwave", "vaporwave", "futuristic", "glowing", "electric"],
  vivid: ["vivid", "vibrant", "bright", "colourful", "colorful", "bold"],
  mono: ["monochrome", "black-and-white", "greyscale", "grayscale", "noir"],
  vintage: ["vintage", "retro", "sepia", "nostalgic", "old-fashioned"],
} as const;
export type Mood = keyof typeof moods;

export const colours: Readonly<Record<string, string>> = {
  red: "#e23b3b",
  crimson: "#c2183f",
  scarlet: "#f0331f",
  maroon: "#7d1f2f",
  ruby: "#c4123f",
  orange: "#f58a1f",
  amber: "#fbb02d",
  coral: "#ff7359",
  peach: "#ffb48f",
  salmon: "#fa8b78",
  yellow: "#ffd42e",
  gold: "#e6b32e",
  golden: "#e6b32e",
  lemon: "#fbe84b",
  green: "#3aa655",
  lime: "#9bd72f",
  olive: "#7f8a3a",
  emerald: "#12a170",
  mint: "#8fe0bd",
  teal: "#159a9c",
  turquoise: "#2fc6c0",
  cyan: "#27c4e8",
  aqua: "#4fd6dd",
  blue: "#2f6fe0",
  azure: "#3f9bf0",
  navy: "#1f3270",
  indigo: "#4636b0",
  cobalt: "#1f4fc0",
  purple: "#8546c9",
  violet: "#8a5cf0",
  lavender: "#b8a2ee",
  lilac: "#c8a6e0",
  magenta: "#dd3bb0",
  pink: "#ff86b5",
  rose: "#f2668b",
  fuchsia: "#ee2fa6",
  brown: "#8a5a35",
  tan: "#cfa777",
  beige: "#e6d6b8",
  bronze: "#b2713a",
  copper: "#c66f43",
  cream: "#f8efd4",
  white: "#f6f6f2",
  ivory: "#f5f0df",
  silver: "#c3ccd6",
  grey: "#8d959e",
  gray: "#8d959e",
  black: "#20242c",
};

/** A word before a colour moves it towards black (negative) or white. */
export const shadings: Readonly<Record<string, number>> = { dark: -0.35, deep: -0.22, light: 0.35, pale: 0.45 };

export const numbers: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  single: 1,
  lone: 1,
  lonely: 1,
  solitary: 1,
  two: 2,
  pair: 2,
  couple: 2,
  both: 2,
  three: 3,
  trio: 3,
  few: 3,
  four: 4,
  five: 5,
  several: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  group: 6,
  many: 10,
  eleven: 11,
  twelve: 12,
  dozen: 12,
  flock: 14,
  swarm: 14,
  fleet: 7,
  herd: 9,
  row: 6,
  crowd: 14,
  countless: 24,
  hundreds: 24,
  hundred: 24,
  thousands: 24,
  twenty: 20,
};

export const magnitudes: Readonly<Record<string, number>> = {
  tiny: 0.45,
  small: 0.65,
  little: 0.7,
  miniature: 0.45,
  distant: 0.5,
  far: 0.5,
  big: 1.35,
  large: 1.35,
  tall: 1.3,
  huge: 1.65,
  giant: 1.8,
  enormous: 1.8,
  massive: 1.7,
  gigantic: 1.9,
  towering: 1.6,
  close: 1.4,
};

export const sides: Readonly<Record<string, number>> = {
  left: 0.22,
  right: 0.78,
  middle: 0.5,
  centre: 0.5,
  center: 0.5,
};

/** A subject after one of these is not painted: "no clouds", "without any trees". */
export const negations: ReadonlySet<string> = new Set(["no", "without", "not", "minus"]);

/** Irregular plurals. */
export const irregular: Readonly<Record<string, string>> = {
  people: "person",
  men: "man",
  women: "woman",
  children: "child",
  mice: "mouse",
  geese: "goose",
  wolves: "wolf",
  cacti: "cactus",
  mechs: "mech",
  koi: "koi",
  buses: "bus",
  aircraft: "aircraft",
  spacecraft: "spacecraft",
};

/** Phrases that are one word, joined before lookup. */
export const phrases: Readonly<Record<string, string>> = {
  "of course": "indeed",
  "golden hour": "golden-hour",
  "blue hour": "blue-hour",
  "northern lights": "northern-lights",
  "polar lights": "northern-lights",
  "black and white": "black-and-white",
  "old fashioned": "old-fashioned",
  "grey sky": "grey-sky",
  "gray sky": "grey-sky",
  "hot air": "hot-air",
  "wind turbine": "turbine",
  "sailing boat": "sailboat",
  "sail boat": "sailboat",
  "space ship": "spaceship",
  "race course": "racecourse",
  "palm tree": "palm",
  "palm trees": "palms",
  "pine tree": "pine",
  "pine trees": "pines",
  "fir trees": "firs",
  "pine forest": "forest",
  "flying saucer": "saucer",
  "flying saucers": "saucers",
  "wild flowers": "flowers",
  "shooting star": "meteor",
  "shooting stars": "meteors",
  "city lights": "city",
  "hot air balloon": "balloon",
  "hot air balloons": "balloons",
  "cherry tree": "tree",
  "cherry trees": "trees",
  "cherry blossom": "cherry",
  "cherry blossoms": "cherry",
  "apple tree": "tree",
  "apple trees": "trees",
};
