import type { Dimension } from "./dimension.ts";
import { drives } from "./drives.ts";
import { keys } from "./keys.ts";
import { models } from "./models.ts";
import { predictions } from "./predictions.ts";
import { queue } from "./queue.ts";
import { runs } from "./runs.ts";

export const dimensions: readonly Dimension[] = [models, keys, predictions, runs, drives, queue];
