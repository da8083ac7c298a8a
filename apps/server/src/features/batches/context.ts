import type { Database } from "../../engines/database/database.ts";
import type { Telemetry } from "../../engines/telemetry/telemetry.ts";
import type { Log } from "../../kernel/log.ts";
import type { Accounts } from "../accounts/index.ts";
import type { ProtocolFiles } from "../files/index.ts";
import type { Predictions } from "../predictions/index.ts";
import type { BatchProtocol } from "./batch.ts";

export interface BatchesDeps {
  database: Database;
  log: Log;
  files: ProtocolFiles;
  predictions: Pick<Predictions, "accept" | "cancel">;
  accounts: Pick<Accounts, "callerOfKey">;
  protocol: BatchProtocol;
  telemetry: Pick<Telemetry, "inTrace">;
}

/** Another node works on the batch, or it has ended. */
export class LostClaim extends Error {}

/** Another node may take a batch over after this time. */
export const leaseMs = 20_000;
