import type { BackendRecord } from "@gantry/wire";
import type { BackendState } from "../../features/predictions/index.ts";

export function backendToWire({ backend, circuit, running, hour, day }: BackendState): BackendRecord {
  return {
    name: backend.name,
    // A manifest types a backend as any string.
    type: backend.type as BackendRecord["type"],
    weight: backend.weight,
    priority: backend.priority,
    capacity: backend.capacity ?? null,
    circuit: circuit ? (circuit.isDue ? "half_open" : "open") : "closed",
    opened_at: circuit?.openedAt.toISOString() ?? null,
    open_until: circuit?.openUntil.toISOString() ?? null,
    reason: circuit?.reason ?? null,
    failures: circuit?.failures ?? 0,
    running,
    last_hour: hour && figuresToWire(hour),
    last_day: day && figuresToWire(day),
  };
}

function figuresToWire({ calls, failures, p50Ms, p95Ms }: NonNullable<BackendState["hour"]>) {
  return { calls, failures, p50_ms: p50Ms, p95_ms: p95Ms };
}
