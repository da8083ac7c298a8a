import {
  paintAir,
  paintCarpet,
  paintFog,
  paintFraming,
  paintMeadowThings,
  paintRays,
  paintShore,
} from "./layers/foreground.ts";
import { paintFarTrees, paintForest } from "./layers/forest.ts";
import { paintGrid, paintGround, paintRoad } from "./layers/ground.ts";
import { paintMountains } from "./layers/mountains.ts";
import { paintBridge, paintCity } from "./layers/settlement.ts";
import { paintSky } from "./layers/sky.ts";
import { paintLightning, paintWind } from "./layers/sky-weather.ts";
import { paintThings } from "./layers/things.ts";
import { subjects } from "./lexicon.ts";
import type { Box } from "./placing.ts";
import { placeAll } from "./placing.ts";
import type { Mention } from "./read-prompt.ts";
import { asks, type Scene } from "./scene.ts";

export function composeScene(scene: Scene, taken: readonly Box[]): string {
  const { reading, detailed, ground } = scene;
  const mentions = untangleObstacles(reading.mentions);
  const placed = placeAll(scene, detailed ? [...mentions, ...company(scene)] : mentions, taken);
  const solid = ground !== "void";
  const standing = mentions.some(({ subject }) => ["ground", "meadow"].includes(subjects[subject].place));
  const plain = ground === "land" && !asks(reading, "city", "forest");
  return [
    paintSky(scene),
    detailed ? paintRays(scene) : "",
    detailed && solid && scene.palette.starlight < 0.5 ? paintWind(scene) : "",
    paintLightning(scene),
    solid ? paintMountains(scene) : "",
    detailed && plain ? paintFarTrees(scene) : "",
    paintCity(scene),
    paintGround(scene),
    // With water, the forest is on the far bank.
    paintForest(ground === "water" ? { ...scene, height: scene.horizon + scene.unit } : scene),
    detailed && scene.reading.moods.includes("neon") ? paintGrid(scene) : "",
    paintFog(scene),
    paintBridge(scene),
    solid && (asks(reading, "road") || asks(reading, "car")) ? paintRoad(scene, asks(reading, "car")) : "",
    ground === "water" && standing ? paintShore(scene) : "",
    ground === "land" ? paintCarpet(scene) : "",
    paintThings(scene, placed),
    paintMeadowThings(scene),
    detailed && !asks(reading, "car") ? paintFraming(scene) : "",
    paintAir(scene),
  ].join("");
}

/** An "obstacle course" consists of gates and pillars. If the prompt names those too, it adds nothing. */
function untangleObstacles(mentions: readonly Mention[]): Mention[] {
  const named = mentions.some(({ subject }) => subject === "gate" || subject === "pillar");
  return mentions.flatMap((mention) => {
    if (mention.subject !== "obstacle") return [mention];
    if (named) return [];
    const count = mention.count === 1 ? subjects.obstacle.many : mention.count;
    const gates = Math.ceil(count * 0.6);
    const split: Mention[] = [{ ...mention, subject: "gate", count: gates }];
    return count > gates ? [...split, { ...mention, subject: "pillar", count: count - gates }] : split;
  });
}

/** Adds a few distant birds to an empty sky in daylight. */
function company({ reading, palette, ground, random }: Scene): Mention[] {
  const own = random.fork("company");
  const flying = reading.mentions.some(({ subject }) => subjects[subject].place === "air");
  if (
    flying ||
    asks(reading, "gate", "obstacle") ||
    ground === "void" ||
    palette.starlight > 0.5 ||
    reading.weather.includes("storm")
  )
    return [];
  return [{ subject: "bird", count: own.int(3, 6), colours: [], scale: 0.42 }];
}
