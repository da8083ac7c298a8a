import type { Sql } from "../../../engines/database/database.ts";
import type { Gone } from "../../nodes/index.ts";

export interface BackendAddress {
  modelId: string;
  backend: string;
}

/** As `circuit_state` in sql/backends.sql writes it. */
export interface SharedCircuit {
  model: string;
  /** Undefined: all circuits of the model are closed. */
  backend?: string;
  /** Undefined: closed. */
  openMs?: number;
  probing?: boolean;
}

export const circuitsChannel = "gantry_circuits";
export const freedChannel = "gantry_backend_freed";

export async function listCircuits(sql: Sql): Promise<SharedCircuit[]> {
  const rows = await sql<{ state: SharedCircuit }[]>`select circuit_state(c) as state from backend_circuits c`;
  return rows.map(({ state }) => state);
}

export interface Opening extends BackendAddress {
  nodeId: string;
  reason: string;
  failures: number;
  askedMs: number | null;
}

export async function openCircuit(sql: Sql, opening: Opening): Promise<void> {
  const { modelId, backend, nodeId, reason, failures, askedMs } = opening;
  await sql`select open_circuit(${modelId}, ${backend}, ${nodeId}, ${reason}, ${failures}, ${askedMs}::integer)`;
}

export async function claimProbe(sql: Sql, { modelId, backend }: BackendAddress, nodeId: string): Promise<boolean> {
  const [row] = await sql<{ claimed: boolean }[]>`select claim_probe(${modelId}, ${backend}, ${nodeId}) as claimed`;
  return row?.claimed ?? false;
}

export async function releaseProbe(sql: Sql, { modelId, backend }: BackendAddress, nodeId: string): Promise<void> {
  await sql`select release_probe(${modelId}, ${backend}, ${nodeId})`;
}

export async function closeCircuit(sql: Sql, { modelId, backend }: BackendAddress): Promise<void> {
  await sql`select close_circuit(${modelId}, ${backend})`;
}

export async function claimSlot(
  sql: Sql,
  callId: string,
  { modelId, backend }: BackendAddress,
  { capacity, nodeId }: { capacity: number; nodeId: string },
): Promise<boolean> {
  const [row] = await sql<{ claimed: boolean }[]>`
    select claim_backend_slot(${callId}, ${modelId}, ${backend}, ${capacity}, ${nodeId}) as claimed`;
  return row?.claimed ?? false;
}

export async function freeSlots(sql: Sql, callIds: readonly string[]): Promise<void> {
  await sql`select free_backend_slots(${[...callIds]}::text[])`;
}

/** Frees the slots and probes of dead nodes. */
export async function takeOverFrom(sql: Sql, gone: Gone): Promise<void> {
  const [row] = await sql<{ calls: string[] | null; probes: BackendAddress[] | null }[]>`
    select (select array_agg(c.id) from backend_calls c where ${gone(sql, sql`c.node_id`)}) as calls,
      (select json_agg(json_build_object('modelId', k.model_id, 'backend', k.backend, 'nodeId', k.probe_node))
        from backend_circuits k where k.probe_node is not null and ${gone(sql, sql`k.probe_node`)}) as probes`;
  if (row?.calls) await freeSlots(sql, row.calls);
  for (const probe of (row?.probes ?? []) as (BackendAddress & { nodeId: string })[]) {
    await releaseProbe(sql, probe, probe.nodeId);
  }
}

export interface AddedFigures {
  model: string;
  backend: string;
  calls: number;
  failures: number;
  latencies: number[];
}

export async function addFigures(sql: Sql, figures: readonly AddedFigures[]): Promise<void> {
  await sql`select add_backend_figures(${JSON.stringify(figures)}::text::json)`;
}

export async function forgetOldBackends(sql: Sql): Promise<void> {
  await sql`select forget_old_backends()`;
}

export interface StoredCircuit {
  reason: string;
  failures: number;
  openedAt: Date;
  openUntil: Date;
  isDue: boolean;
}

interface StoredBackend {
  circuit: StoredCircuit | null;
  running: number | null;
  hour: StoredFigures | null;
  day: StoredFigures | null;
}

export interface StoredFigures {
  calls: number;
  failures: number;
  /** By step, summed over time. */
  latencies: number[] | null;
}

type BackendRow = Omit<StoredBackend, "circuit"> & { [Key in keyof StoredCircuit]: StoredCircuit[Key] | null };

/** All that is stored about the named backends of a model. */
export async function selectBackends(sql: Sql, modelId: string, names: readonly string[]): Promise<StoredBackend[]> {
  const rows = await sql<BackendRow[]>`
    select k.reason, k.failures, k.opened_at as "openedAt", k.open_until as "openUntil", k.open_until <= now() as "isDue",
      (select s.running from backend_slots s where s.model_id = ${modelId} and s.backend = n.name) as running,
      ${figuresSince(sql, modelId, "1 hour")} as hour, ${figuresSince(sql, modelId, "1 day")} as day
    from unnest(${[...names]}::text[]) with ordinality as n (name, i)
      left join backend_circuits k on k.model_id = ${modelId} and k.backend = n.name
    order by n.i`;
  return rows.map(({ running, hour, day, ...circuit }) => ({
    circuit: circuit.reason === null ? null : (circuit as StoredCircuit),
    running,
    hour,
    day,
  }));
}

const figuresSince = (sql: Sql, modelId: string, span: string) => sql`(
  select json_build_object('calls', sum(f.calls), 'failures', sum(f.failures), 'latencies', (
    select json_agg(t.n order by t.i) from (
      select l.i, sum(l.n) as n from backend_figures g cross join lateral unnest(g.latencies) with ordinality as l (n, i)
      where g.model_id = ${modelId} and g.backend = n.name and g.at > now() - ${span}::text::interval group by l.i) t))
  from backend_figures f
  where f.model_id = ${modelId} and f.backend = n.name and f.at > now() - ${span}::text::interval having count(*) > 0)`;
