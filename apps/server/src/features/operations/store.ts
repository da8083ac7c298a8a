import type { Sql } from "../../engines/database/database.ts";
import { heartbeatAge, selectAlive } from "../nodes/index.ts";

export interface ClusterFigures {
  /** Waiting for capacity or a worker. */
  predictionsWaiting: number;
  predictionsRunning: number;
  /** Waiting for a worker. */
  jobsQueued: number;
  /** Waiting for a worker. */
  runsWaiting: number;
  runsRunning: number;
  /** Waiting for a confirmation; and for runs of other agents. */
  runsAsking: number;
  runsDelegating: number;
  /** Longest wait for a first worker. */
  runsOldestWaitSeconds: number;
  webhooksPending: number;
  /** Backends that are left out for a while. */
  circuitsOpen: number;
  nodesAlive: number;
  heartbeatAgeSeconds: number;
}

/** A scrape must not count a million rows. */
const countedUpTo = 10_000;

export async function selectClusterFigures(sql: Sql, nodeId: string): Promise<ClusterFigures> {
  const [row] = await sql<ClusterFigures[]>`
    with parked as materialized (select phase from runs where parked limit ${countedUpTo})
    select
      coalesce((select sum(waiting) from model_slots), 0)::int as "predictionsWaiting",
      coalesce((select sum(running) from model_slots), 0)::int as "predictionsRunning",
      (select count(*) from (
        select 1 from live_predictions where started_at is null and holder is null and user_id > '' limit ${countedUpTo}) q
      )::int as "jobsQueued",
      (select count(*) from (
        select 1 from runs where holder is null and not parked and status in ('pending', 'running') limit ${countedUpTo}) r
      )::int as "runsWaiting",
      (select count(*) from runs where holder is not null)::int as "runsRunning",
      (select count(*) from parked where phase = 'awaiting_confirmation')::int as "runsAsking",
      (select count(*) from parked where phase <> 'awaiting_confirmation')::int as "runsDelegating",
      coalesce((select extract(epoch from clock_timestamp() - min(created_at)) from runs where status = 'pending'), 0)::float8
        as "runsOldestWaitSeconds",
      (select count(*) from (
        select 1 from webhook_deliveries where status = 'pending' limit ${countedUpTo}) w
      )::int as "webhooksPending",
      (select count(*) from backend_circuits)::int as "circuitsOpen",
      ${selectAlive(sql)} as "nodesAlive",
      ${heartbeatAge(sql, nodeId)} as "heartbeatAgeSeconds"`;
  if (!row) throw new Error("cluster figures returned no row");
  return row;
}
