import { subjects } from "./lexicon.ts";
import type { Random } from "./random.ts";
import type { Mention } from "./read-prompt.ts";
import type { Scene } from "./scene.ts";

/** A thing with its feet at x/y, `size` pixels tall. `depth` is 0 near the viewer and 1 at the horizon. */
export interface Placed {
  mention: Mention;
  nth: number;
  x: number;
  y: number;
  size: number;
  depth: number;
  /** A flyer inside this obstacle is painted between its two halves. */
  within?: Placed;
  /** The racer that has left the gates. */
  leads?: boolean;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const candidates = 28;
const flyersThroughGates = new Set(["drone", "bird", "plane", "ufo", "rocket", "butterfly"]);

/** `taken` are boxes of reference panels, which should stay free. */
export function placeAll(scene: Scene, mentions: readonly Mention[], taken: readonly Box[]): Placed[] {
  const own = scene.random.fork("placing");
  const standing = mentions.filter(
    ({ subject }) => subjects[subject].place === "ground" || subjects[subject].place === "water",
  );
  const flying = mentions.filter(({ subject }) => subjects[subject].place === "air");
  const course = flying.some(({ subject }) => flyersThroughGates.has(subject)) && standing.some(isGate);
  const placed: Placed[] = [];
  for (const mention of standing) {
    if (course && isGate(mention)) placed.push(...placeCourse(scene, mention, own.fork("course")));
  }
  const onGround = standing.flatMap((mention) => (course && isGate(mention) ? [] : each(mention)));
  for (const { mention, nth } of onGround)
    placed.push(placeOnGround(scene, mention, nth, onGround.length, own, placed, taken));
  const gates = placed.filter(({ mention }) => course && isGate(mention)).toSorted((a, b) => b.size - a.size);
  const inAir = flying.flatMap(each);
  let racing = 0;
  for (const { mention, nth } of inAir) {
    const races = gates.length > 0 && flyersThroughGates.has(mention.subject);
    // The first racer has left the gates; the nearest gate stays open and frames the view of the others.
    if (races && racing === 0) placed.push(placeLeader(scene, mention, nth, gates));
    else if (races && gates[racing]) placed.push(placeInGate(scene, mention, nth, gates[racing] as Placed, own));
    else placed.push(placeInAir(scene, mention, nth, inAir.length, own, placed, taken));
    racing += races ? 1 : 0;
  }
  return placed.toSorted((a, b) => b.depth - a.depth);
}

const isGate = ({ subject }: Mention): boolean => subject === "gate";
const each = (mention: Mention) => Array.from({ length: mention.count }, (_, nth) => ({ mention, nth }));

function sizeOf(scene: Scene, mention: Mention, crowd: number): number {
  const row = subjects[mention.subject];
  const shorter = Math.min(scene.width, scene.height);
  // A single thing is the subject of the picture and may be larger.
  const shrink = crowd === 1 ? (row.height < 0.3 ? 1.55 : 1.15) : 1 / (1 + 0.055 * (crowd - 1));
  return Math.min(shorter * row.height * mention.scale * shrink, (scene.width * 0.9) / row.width, scene.height * 0.82);
}

/** Gates in a bend from the far end to the viewer. */
function placeCourse(scene: Scene, mention: Mention, own: Random): Placed[] {
  const { width, height, horizon } = scene;
  const phase = own.pick([0.4, 3.5]);
  const shorter = Math.min(width, height);
  return each(mention).map(({ nth }) => {
    const t = mention.count === 1 ? 0.7 : nth / (mention.count - 1);
    const near = 0.1 + 0.9 * t ** 1.7;
    const sway = Math.sin(t * 4.4 + phase) * (0.1 + 0.26 * t);
    const size = shorter * (0.07 + 0.47 * near) * Math.min(1.2, mention.scale);
    return {
      mention,
      nth,
      x: Math.min(width - size * 0.5, Math.max(size * 0.5, width * (0.5 + sway * (width > height ? 0.86 : 1)))),
      y: horizon + (height - horizon) * (0.05 + 0.83 * near),
      size,
      depth: 0.68 * (1 - near),
    };
  });
}

/** Near the viewer, on the side opposite the nearest gate. */
function placeLeader(scene: Scene, mention: Mention, nth: number, gates: readonly Placed[]): Placed {
  const { width, height } = scene;
  const row = subjects[mention.subject];
  const size = Math.min(Math.min(width, height) * 0.27 * Math.min(1.4, mention.scale), (width * 0.46) / row.width);
  const aside = (gates[0]?.x ?? 0) > width / 2 ? 0.3 : 0.7;
  return {
    mention,
    nth,
    x: width * (mention.side ?? aside),
    y: height * 0.5 + size * 0.5,
    size,
    depth: -0.01,
    leads: true,
  };
}

function placeInGate(scene: Scene, mention: Mention, nth: number, gate: Placed, own: Random): Placed {
  const row = subjects[mention.subject];
  const size = Math.min(gate.size * 0.46, (gate.size * 1.02) / row.width) * Math.min(1.5, mention.scale);
  return {
    mention,
    nth,
    x: gate.x + own.range(-0.04, 0.04) * gate.size,
    y: gate.y - gate.size * 0.55 + size * 0.55,
    size: Math.max(size, scene.unit * 5),
    depth: gate.depth - 0.001,
    within: gate,
  };
}

function placeOnGround(
  scene: Scene,
  mention: Mention,
  nth: number,
  crowd: number,
  own: Random,
  placed: readonly Placed[],
  taken: readonly Box[],
): Placed {
  const { width, height, horizon } = scene;
  const row = subjects[mention.subject];
  const full = sizeOf(scene, mention, crowd);
  const alone = crowd === 1;
  const shore = scene.ground === "water" && row.place === "ground";
  const driven = mention.subject === "car" || mention.subject === "train";
  let best: Placed | undefined;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < candidates; i++) {
    // Tall things stand further back, so that they do not hide the small ones.
    const near = alone ? own.range(0.62, 0.8) : Math.max(0, Math.min(1, own.range(0.35, 1.1) - row.height * 0.4 + 0.1));
    const size = full * (driven ? 1 : 0.62 + 0.38 * near);
    const half = (size * row.width) / 2;
    const centre = mention.side ?? (alone && taken.length === 0 ? own.pick([0.34, 0.5, 0.66]) : own.next());
    const x = Math.min(
      width - half * 0.9,
      Math.max(half * 0.9, centre * width + (mention.side ? own.range(-0.1, 0.1) * width : 0)),
    );
    const y = driven
      ? height * (mention.subject === "car" ? 0.93 : 0.8)
      : shore
        ? height * (0.86 + 0.1 * near)
        : horizon + (height - horizon) * (0.1 + 0.74 * near);
    const box = { x: x - half, y: y - size, width: half * 2, height: size };
    const score = -overlap(box, placed.map(boxOf)) * 2 - overlap(box, taken) * 3 - clash(box, scene) + own.next() * 0.2;
    if (score > bestScore) {
      bestScore = score;
      best = { mention, nth, x, y, size, depth: driven ? 0.02 : 0.42 * (1 - near) };
    }
  }
  return best as Placed;
}

function placeInAir(
  scene: Scene,
  mention: Mention,
  nth: number,
  crowd: number,
  own: Random,
  placed: readonly Placed[],
  taken: readonly Box[],
): Placed {
  const { width, height } = scene;
  const row = subjects[mention.subject];
  const full = sizeOf(scene, mention, crowd);
  const low = scene.ground === "void" ? height * 0.92 : scene.horizon * 1.02;
  let best: Placed | undefined;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < candidates; i++) {
    const size = full * (crowd === 1 ? 1 : own.range(0.58, 1));
    const half = (size * row.width) / 2;
    const centre = mention.side ?? (crowd === 1 ? own.pick([0.36, 0.5, 0.64]) : own.range(0.04, 0.96));
    const x = Math.min(width - half, Math.max(half, centre * width));
    const y = Math.min(
      Math.max(low, size * 1.1),
      size + height * 0.05 + own.next() * Math.max(0, low - size - height * 0.08),
    );
    const box = { x: x - half, y: y - size, width: half * 2, height: size };
    const score = -overlap(box, placed.map(boxOf)) * 2 - overlap(box, taken) * 3 - clash(box, scene) + own.next() * 0.4;
    if (score > bestScore) {
      bestScore = score;
      best = { mention, nth, x, y, size, depth: Math.min(0.5, 0.45 * (1 - size / full)) };
    }
  }
  return best as Placed;
}

function boxOf({ mention, x, y, size }: Placed): Box {
  const half = (size * subjects[mention.subject].width) / 2;
  return { x: x - half, y: y - size, width: half * 2, height: size };
}

/** The share of the box that others cover. Overlaps count several times. */
function overlap(box: Box, others: readonly Box[]): number {
  let sum = 0;
  for (const other of others) {
    const across = Math.min(box.x + box.width, other.x + other.width) - Math.max(box.x, other.x);
    const down = Math.min(box.y + box.height, other.y + other.height) - Math.max(box.y, other.y);
    if (across > 0 && down > 0) sum += (across * down) / Math.min(box.width * box.height, other.width * other.height);
  }
  return sum;
}

/** A subject in front of the sun hides the light of the picture. */
function clash(box: Box, { sun }: Scene): number {
  const inside = sun.x > box.x && sun.x < box.x + box.width && sun.y > box.y && sun.y < box.y + box.height;
  return inside ? 0.3 : 0;
}
