import type { Caller } from "../../features/accounts/index.ts";
import type { Agents } from "../../features/agents/index.ts";
import type { Batches } from "../../features/batches/index.ts";
import type { Files, ProtocolFiles } from "../../features/files/index.ts";
import type { Models } from "../../features/models/index.ts";
import type { Predictions } from "../../features/predictions/index.ts";
import type { Responses } from "../../features/responses/index.ts";
import type { Runs } from "../../features/runs/index.ts";
import type { Log } from "../../kernel/log.ts";
import type { BodyMemory } from "./body-memory.ts";

export interface DoorDeps {
  log: Log;
  models: Models;
  predictions: Predictions;
  files: Pick<Files, "openOwnedFile" | "refuseBeyondQuota">;
  protocolFiles: ProtocolFiles;
  batches: Batches;
  responses: Responses;
  runs: Runs;
  agents: Agents;
  bodies: BodyMemory;
  /** Origins whose pages may call the doors; `*` for all. */
  corsOrigins: readonly string[];
}

/** The name in a request: an endpoint id, an alias, or `agents/<creator>/<slug>`. */
export interface Named {
  caller: Caller;
  name: unknown;
}
