import type { Database } from "../engines/database/database.ts";
import type { Telemetry } from "../engines/telemetry/telemetry.ts";
import type { Vault } from "../engines/vault/vault.ts";
import type { Accounts } from "../features/accounts/index.ts";
import { startBatches } from "../features/batches/index.ts";
import type { ProtocolFiles } from "../features/files/index.ts";
import type { Models } from "../features/models/index.ts";
import type { Predictions } from "../features/predictions/index.ts";
import { openResponses, type Responses } from "../features/responses/index.ts";
import { type BodyMemory, createBodyMemory } from "../http/doors/body-memory.ts";
import { batchProtocol } from "../http/openai-api/batch-protocol.ts";
import type { Log } from "../kernel/log.ts";

export interface Answering {
  /** Shared with the routes. */
  parts: { responses: Responses; bodies: BodyMemory };
  stop(): Promise<void>;
}

/** Works on batches, if this server is a worker. Their lines are read and answered as the routes do. */
export function startAnswering({
  isWorker,
  protocolFiles: files,
  ...deps
}: {
  database: Database;
  vault: Vault;
  log: Log;
  models: Models;
  predictions: Predictions;
  accounts: Accounts;
  protocolFiles: ProtocolFiles;
  telemetry: Telemetry;
  isWorker: boolean;
}): Answering {
  const responses = openResponses(deps);
  const bodies = createBodyMemory();
  const protocol = batchProtocol({ ...deps, responses, bodies });
  const worker = isWorker ? startBatches({ ...deps, files, protocol }) : undefined;
  return { parts: { responses, bodies }, stop: async () => worker?.stop() };
}
