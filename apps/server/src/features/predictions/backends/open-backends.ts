import type { Database } from "../../../engines/database/database.ts";
import type { ModelResult } from "../../../engines/models/driver.ts";
import type { Telemetry } from "../../../engines/telemetry/telemetry.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Nodes } from "../../nodes/index.ts";
import { takeOverFrom } from "./backend-store.ts";
import { callListed, type ListedCall } from "./call-backends.ts";
import { openCapacity } from "./capacity.ts";
import { openCircuits } from "./circuits.ts";
import { countBackends } from "./figures.ts";

/** The backends of models that list them. */
export interface ListedBackends {
  call(call: ListedCall): Promise<ModelResult>;
  /** Whether calls avoid the backend now. */
  isOpen(modelId: string, backend: string): boolean;
  openCircuits(): number;
  stop(): Promise<void>;
}

export async function openBackends(deps: {
  database: Database;
  nodes: Pick<Nodes, "onDead">;
  nodeId: string;
  log: Log;
  telemetry: Telemetry;
}): Promise<ListedBackends> {
  const { database, nodes, telemetry } = deps;
  const circuits = await openCircuits(deps);
  const capacity = await openCapacity(deps);
  const figures = countBackends(deps);
  const takeover = await nodes.onDead((gone) => takeOverFrom(database.sql, gone));

  return {
    call: (call) => callListed({ circuits, capacity, figures, telemetry }, call),
    isOpen: (modelId, backend) => circuits.state({ modelId, backend }) === "open",
    openCircuits: circuits.openCount,
    async stop() {
      await takeover.stop();
      await Promise.all([circuits.stop(), capacity.stop(), figures.stop()]);
    },
  };
}
