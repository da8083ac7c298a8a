import { backendsOf, type ListedBackend } from "@gantry/wire";
import type { Sql } from "../../../engines/database/database.ts";
import { percentileOf } from "../../../kernel/latency.rules.ts";
import type { Model } from "../../models/index.ts";
import { type StoredCircuit, type StoredFigures, selectBackends } from "./backend-store.ts";

/** A backend as its owner sees it. */
export interface BackendState {
  backend: ListedBackend;
  /** Null if it is closed. */
  circuit: StoredCircuit | null;
  /** Null if the backend has no capacity. */
  running: number | null;
  hour: Figures | null;
  day: Figures | null;
}

interface Figures {
  calls: number;
  failures: number;
  p50Ms: number | null;
  p95Ms: number | null;
}

export async function readBackends(sql: Sql, { id, manifest }: Model): Promise<BackendState[]> {
  const backends = backendsOf(manifest);
  const names = backends.map(({ name }) => name);
  const stored = manifest.backends ? await selectBackends(sql, id, names) : [];
  return backends.map((backend, n) => {
    const { circuit = null, running, hour, day } = stored[n] ?? {};
    return {
      backend,
      circuit,
      running: backend.capacity === undefined ? null : (running ?? 0),
      hour: figuresOf(hour),
      day: figuresOf(day),
    };
  });
}

function figuresOf(stored: StoredFigures | null | undefined): Figures | null {
  if (!stored) return null;
  const { calls, failures, latencies } = stored;
  const counts = latencies ?? [];
  return { calls, failures, p50Ms: percentileOf(counts, 0.5), p95Ms: percentileOf(counts, 0.95) };
}
