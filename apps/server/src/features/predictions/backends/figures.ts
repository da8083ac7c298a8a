import type { Database } from "../../../engines/database/database.ts";
import { latencySteps, stepOf } from "../../../kernel/latency.rules.ts";
import type { Log } from "../../../kernel/log.ts";
import { repeat } from "../../../kernel/repeat.ts";
import { type AddedFigures, addFigures, type BackendAddress, forgetOldBackends } from "./backend-store.ts";

/** Counts the calls to listed backends. */
export interface BackendFigures {
  /** `latencyMs`: the time to the first byte. */
  answered(address: BackendAddress, latencyMs: number): void;
  failed(address: BackendAddress): void;
  stop(): Promise<void>;
}

const writeEveryMs = 5_000;
const forgetEveryMs = 600_000;

export function countBackends({ database, log }: { database: Database; log: Log }): BackendFigures {
  const { sql } = database;
  let counted = new Map<string, AddedFigures>();

  function figuresOf({ modelId, backend }: BackendAddress): AddedFigures {
    const key = `${modelId} ${backend}`;
    let figures = counted.get(key);
    if (!figures) {
      figures = { model: modelId, backend, calls: 0, failures: 0, latencies: new Array(latencySteps).fill(0) };
      counted.set(key, figures);
    }
    return figures;
  }

  /** Figures of a statement that fails are lost, because it may have taken effect. */
  async function write(): Promise<void> {
    if (counted.size === 0) return;
    const figures = [...counted.values()];
    counted = new Map();
    await addFigures(sql, figures);
  }

  const failed = (error: unknown) => log.warn({ err: error }, "Figures of backends could not be written");
  const writing = repeat(write, writeEveryMs, failed);
  const forgetting = repeat(() => forgetOldBackends(sql), forgetEveryMs, failed);

  return {
    answered(address, latencyMs) {
      const figures = figuresOf(address);
      figures.calls++;
      const step = stepOf(latencyMs);
      figures.latencies[step] = (figures.latencies[step] ?? 0) + 1;
    },
    failed(address) {
      const figures = figuresOf(address);
      figures.calls++;
      figures.failures++;
    },
    async stop() {
      await Promise.all([writing.stop(), forgetting.stop()]);
      await write().catch(failed);
    },
  };
}
