import type { PathParams } from "@gantry/wire/operations";
import type { Files } from "../../features/files/index.ts";
import type { Models } from "../../features/models/index.ts";
import type { Predictions } from "../../features/predictions/index.ts";
import type { Log } from "../../kernel/log.ts";

export interface ModelApiDeps {
  log: Log;
  models: Models;
  predictions: Predictions;
  files: Files;
}

/** The handler reads the body as it arrives. */
export const readsBody = { config: { readsBody: true } } as const;

export interface OfModel {
  Params: PathParams<"/{owner}/{model}">;
}
