import { type Described, escaped, gaugeText } from "./instruments.ts";
import type { GaugeName, Gauges } from "./telemetry.ts";

interface GaugeRow {
  metric: string;
  labels?: string;
  help: string;
}

const connections = { metric: "gantry_database_connections", help: "Connections of this process's pool." };
const predictions = {
  metric: "gantry_queue_predictions",
  help: "Live predictions of all nodes: waiting for capacity or a worker, or running.",
};

const runs = {
  metric: "gantry_queue_runs",
  help: "Runs of agents of all nodes: waiting for a worker, running (worked on), asking (a person must answer), delegating (other agents work for it). Counted up to 10000.",
};

const info = { name: "gantry_info", help: "Always 1; the labels say what runs." };

const postgresInfo = { name: "gantry_postgres_info", help: "Always 1; the labels say which PostgreSQL answers." };

export function infoText(version: string, role: string): string {
  return gaugeText(info.name, info.help, [[`version="${escaped(version)}",role="${escaped(role)}"`, 1]]);
}

/** What is read at a scrape. Those marked "of all nodes" are the same on every node: take their max, not their sum. */
const rows: Record<GaugeName, GaugeRow> = {
  databaseUp: { metric: "gantry_database_up", help: "1 when the database answered this scrape, else 0." },
  databaseFull: {
    metric: "gantry_database_full",
    help: "1 while the disk of the database is known to be full, so that nothing can be stored, else 0.",
  },
  databaseConnectionsIdle: { ...connections, labels: 'state="idle"' },
  databaseConnectionsBusy: { ...connections, labels: 'state="busy"' },
  databaseQueriesWaiting: {
    metric: "gantry_database_queries_waiting",
    help: "Queries and transactions of this process that wait for a connection.",
  },
  predictionsWaiting: { ...predictions, labels: 'state="waiting"' },
  predictionsRunning: { ...predictions, labels: 'state="running"' },
  jobsQueued: {
    metric: "gantry_queue_jobs",
    help: "Queued predictions of all nodes that wait for a worker; counted up to 10000.",
  },
  predictionsHeld: {
    metric: "gantry_predictions_held",
    help: "Predictions that this process executes, or holds the connection of while they wait.",
  },
  workerSlots: {
    metric: "gantry_worker_slots",
    help: "Queued predictions that this process runs at the same time at most; 0 without the role of a worker.",
  },
  runsWaiting: { ...runs, labels: 'state="waiting"' },
  runsRunning: { ...runs, labels: 'state="running"' },
  runsAsking: { ...runs, labels: 'state="asking"' },
  runsDelegating: { ...runs, labels: 'state="delegating"' },
  runsOldestWaitSeconds: {
    metric: "gantry_runs_oldest_wait_seconds",
    help: "How long the run of all nodes has waited that waits longest for its first worker; 0 when none does.",
  },
  runsHeld: { metric: "gantry_runs_held", help: "Runs of agents that this process works on." },
  runSlots: {
    metric: "gantry_run_slots",
    help: "Runs of agents that this process works on at the same time at most; 0 without the role of a worker.",
  },
  nodesAlive: { metric: "gantry_nodes_alive", help: "Processes, of all nodes, whose heartbeat is younger than 10 s." },
  heartbeatAgeSeconds: {
    metric: "gantry_heartbeat_age_seconds",
    help: "Age of this process's heartbeat in the database; above 10 its predictions are taken over by others.",
  },
  webhooksPending: {
    metric: "gantry_webhooks_pending",
    help: "Deliveries of all nodes that are still to be sent or sent again; counted up to 10000.",
  },
};

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

/** Without the labels' values, one entry a metric. */
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
