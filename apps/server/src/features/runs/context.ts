import type { Database } from "../../engines/database/database.ts";
import type { Schemas } from "../../engines/schemas/schemas.ts";
import type { Telemetry } from "../../engines/telemetry/telemetry.ts";
import type { Templates } from "../../engines/templates/templates.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Agents } from "../agents/index.ts";
import type { Models } from "../models/index.ts";
import type { Predictions } from "../predictions/index.ts";
import type { RunFeed } from "./run-feed.ts";
import type { RunTexts } from "./run-texts.ts";
import type { WriteRun } from "./run-writer.ts";

export interface RunsContext {
  database: Database;
  schemas: Pick<Schemas, "validate" | "validateLoosely">;
  vault: Vault;
  clock: Clock;
  templates: Pick<Templates, "render">;
  log: Log;
  telemetry: Telemetry;
  agents: Pick<
    Agents,
    | "readAgent"
    | "getRunnable"
    | "lockRunnable"
    | "getRevision"
    | "idsAt"
    | "ownerOf"
    | "boundNames"
    | "keyReachesAgent"
    | "tools"
  >;
  models: Pick<Models, "getModel" | "targetOf">;
  predictions: Pick<Predictions, "look" | "rate">;
  feed: RunFeed;
  texts: RunTexts;
  write: WriteRun;
  wakeWorkers(): void;
}
