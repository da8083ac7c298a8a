import { type Described, escaped, gaugeText } from "./instruments.ts";
import type { GaugeName, Gauges } from "./telemetry.ts";

/** How a gauge of several processes becomes one. */
export type Merge = "sum" | "max" | "min";

interface GaugeRow {
  metric: string;
  labels?: string;
  help: string;
  /** "max" by default: the same in all processes. */
  merge?: Merge;
}

const processes = {
  metric: "gantry_processes",
  help: "Processes of this server: serving, or missing because they start, hang or have ended.",
  merge: "sum" as const,
};
const connections = {
  metric: "gantry_database_connections",
  help: "Connections of this server's pools.",
  merge: "sum" as const,
};
const predictions = {
  metric: "gantry_queue_predictions",
  help: "Live predictions of all nodes: waiting for a slot, or running.",
};

const runs = {
  metric: "gantry_queue_runs",
  help: "Agent runs of all nodes: waiting for a worker, running, asking for a confirmation, or delegating to other agents. Counted up to 10000.",
};

const info = { name: "gantry_info", help: "Always 1. The labels describe this server." };

const postgresInfo = { name: "gantry_postgres_info", help: "Always 1. The labels describe the PostgreSQL server." };

export function infoText(version: string, role: string): string {
  return gaugeText(info.name, info.help, [[`version="${escaped(version)}",role="${escaped(role)}"`, 1]]);
}

/** Gauges read at a scrape. Those "of all nodes" are the same on every node: use their max, not their sum. */
const rows: Record<GaugeName, GaugeRow> = {
  processesServing: { ...processes, labels: 'state="serving"' },
  processesMissing: { ...processes, labels: 'state="missing"' },
  databaseUp: { metric: "gantry_database_up", help: "1 if the database answered this scrape, else 0.", merge: "min" },
  databaseFull: {
    metric: "gantry_database_full",
    help: "1 while the disk of the database is full and nothing can be stored, else 0.",
  },
  databaseConnectionsIdle: { ...connections, labels: 'state="idle"' },
  databaseConnectionsBusy: { ...connections, labels: 'state="busy"' },
  databaseQueriesWaiting: {
    metric: "gantry_database_queries_waiting",
    help: "Queries and transactions of this server waiting for a connection.",
    merge: "sum",
  },
  predictionsWaiting: { ...predictions, labels: 'state="waiting"' },
  predictionsRunning: { ...predictions, labels: 'state="running"' },
  jobsQueued: {
    metric: "gantry_queue_jobs",
    help: "Queued predictions of all nodes that wait for a worker. Counted up to 10000.",
  },
  predictionsHeld: {
    metric: "gantry_predictions_held",
    help: "Predictions that this server runs, or that wait for a slot with a connection to it.",
    merge: "sum",
  },
  workerSlots: {
    metric: "gantry_worker_slots",
    help: "The most queued predictions that this server runs at once; 0 if it is not a worker.",
    merge: "sum",
  },
  runsWaiting: { ...runs, labels: 'state="waiting"' },
  runsRunning: { ...runs, labels: 'state="running"' },
  runsAsking: { ...runs, labels: 'state="asking"' },
  runsDelegating: { ...runs, labels: 'state="delegating"' },
  runsOldestWaitSeconds: {
    metric: "gantry_runs_oldest_wait_seconds",
    help: "Longest time that a run of any node has waited for its first worker; 0 if no run waits.",
  },
  runsHeld: { metric: "gantry_runs_held", help: "Agent runs that this server works on.", merge: "sum" },
  runSlots: {
    metric: "gantry_run_slots",
    help: "The most agent runs that this server works on at once; 0 if it is not a worker.",
    merge: "sum",
  },
  nodesAlive: { metric: "gantry_nodes_alive", help: "Nodes with a heartbeat in the last 10 seconds, of all nodes." },
  heartbeatAgeSeconds: {
    metric: "gantry_heartbeat_age_seconds",
    help: "Age of the oldest heartbeat of this server's processes. Above 10, other nodes take over the work of that process.",
  },
  circuitsOpen: {
    metric: "gantry_backend_circuits_open",
    help: "Backends of all nodes that are left out for a while, because they failed.",
  },
  webhooksPending: {
    metric: "gantry_webhooks_pending",
    help: "Webhook deliveries of all nodes that wait for an attempt. Counted up to 10000.",
  },
};

/** By metric, for those that are not "max". */
export function gaugeMerges(): ReadonlyMap<string, Merge> {
  return new Map(Object.values(rows).flatMap(({ metric, merge }) => (merge === undefined ? [] : [[metric, merge]])));
}

export function gaugesText(gauges: Gauges): string {
  const byMetric = new Map<string, { help: string; values: [string, number][] }>();
  for (const [name, row] of Object.entries(rows)) {
    const value = gauges[name as GaugeName];
    if (value === undefined) continue;
    const metric = byMetric.get(row.metric) ?? { help: row.help, values: [] };
    metric.values.push([row.labels ?? "", value]);
    byMetric.set(row.metric, metric);
  }
  const texts = [...byMetric].map(([metric, { help, values }]) => gaugeText(metric, help, values));
  return `${postgresText(gauges)}${texts.join("")}`;
}

function postgresText({ postgres }: Gauges): string {
  if (!postgres) return "";
  const labels = `version="${escaped(postgres.version)}",embedded="${postgres.isEmbedded}"`;
  return gaugeText(postgresInfo.name, postgresInfo.help, [[labels, 1]]);
}

/** One entry for each metric, without label values. */
export function describedGauges(): Described[] {
  const byMetric = new Map<string, Described>();
  byMetric.set(info.name, { ...info, type: "gauge", labelNames: ["version", "role"] });
  byMetric.set(postgresInfo.name, { ...postgresInfo, type: "gauge", labelNames: ["version", "embedded"] });
  for (const { metric, labels, help } of Object.values(rows)) {
    const labelNames = labels === undefined ? [] : [labels.slice(0, labels.indexOf("="))];
    byMetric.set(metric, { name: metric, type: "gauge", labelNames, help });
  }
  return [...byMetric.values()];
}
