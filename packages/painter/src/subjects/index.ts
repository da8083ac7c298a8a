import type { Subject } from "../lexicon.ts";
import type { Brush } from "../scene.ts";
import { paintCat, paintDog, paintPerson, paintRabbit, paintRobot } from "./beings.ts";
import { paintCastle, paintHouse, paintTent } from "./buildings.ts";
import { paintDrone } from "./drone.ts";
import { paintBalloon, paintBird, paintButterfly, paintKite, paintPlane, paintRocket, paintUfo } from "./flyers.ts";
import { type Halves, paintGate, paintPillar } from "./obstacles.ts";
import { paintCactus, paintFlower, paintMushroom, paintPalm, paintPine, paintTree } from "./plants.ts";
import { paintLighthouse, paintTower, paintWindmill } from "./towers.ts";
import { paintBoat, paintCar, paintFish, paintShip, paintTrain, paintWhale } from "./vessels.ts";

type Painter = (brush: Brush) => string | Halves;

/** Backdrops and the sky are layers and have no painter here. */
export const painters: Partial<Record<Subject, Painter>> = {
  drone: paintDrone,
  bird: paintBird,
  plane: paintPlane,
  balloon: paintBalloon,
  rocket: paintRocket,
  ufo: paintUfo,
  butterfly: paintButterfly,
  kite: paintKite,
  gate: paintGate,
  pillar: paintPillar,
  obstacle: (brush) => (brush.random.chance(0.6) ? paintGate(brush) : paintPillar(brush)),
  house: paintHouse,
  castle: paintCastle,
  lighthouse: paintLighthouse,
  windmill: paintWindmill,
  tower: paintTower,
  tent: paintTent,
  tree: paintTree,
  pine: paintPine,
  palm: paintPalm,
  cactus: paintCactus,
  flower: paintFlower,
  mushroom: paintMushroom,
  person: paintPerson,
  robot: paintRobot,
  cat: paintCat,
  dog: paintDog,
  rabbit: paintRabbit,
  boat: paintBoat,
  ship: paintShip,
  whale: paintWhale,
  fish: paintFish,
  car: paintCar,
  train: paintTrain,
};
