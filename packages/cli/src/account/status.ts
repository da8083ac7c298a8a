import type { GantryClient, MeRecord, OverviewRecord } from "@gantry/sdk";
import type { Context, Target } from "../frame/command.ts";
import { exitCodes } from "../frame/failure.ts";
import { count, money, sizeOf } from "../frame/format.rules.ts";
import type { Output } from "../frame/output.ts";

const longestAnswerMs = 5_000;
const notAsked = 2;

interface Status {
  url: string;
  up: boolean;
  ready: boolean;
  reason?: string | undefined;
  postgres?: { version: string; embedded: boolean } | undefined;
  /** Server processes on the machine that answered. */
  processes?: { serving: number; missing: number } | undefined;
  me?: MeRecord | undefined;
  /** For admins. */
  installation?: Pick<OverviewRecord, "nodes" | "predictions" | "users" | "models"> | undefined;
}

export async function status({ out, flag, client: connect, target }: Context): Promise<number> {
  const client = await connect();
  const found = await read(client, await target());
  if (flag("json")) out.json(found);
  else print(out, found);
  if (!found.up) return notAsked;
  return found.ready ? exitCodes.done : exitCodes.failed;
}

async function read(client: GantryClient, { url, key }: Target): Promise<Status> {
  if (!(await within(client.isUp))) return { url, up: false, ready: false };
  if (!(await within(client.isReady))) {
    return { url, up: true, ready: false, reason: await whyNotReady(url).catch(() => undefined) };
  }
  const metrics = await readMetrics({ url, key }).catch(() => "");
  const shown = { url, up: true, ready: true, postgres: postgresOf(metrics), processes: processesOf(metrics) };
  if (key === undefined) return shown;
  const signal = AbortSignal.timeout(longestAnswerMs);
  const me = await client.me({ signal });
  // A key may belong to an admin and be limited to models.
  const overview = me.role === "admin" ? await client.admin.overview({ signal }).catch(() => undefined) : undefined;
  const { nodes, predictions, users, models } = overview ?? {};
  const installation = nodes && predictions && users && models ? { nodes, predictions, users, models } : undefined;
  return { ...shown, me, installation };
}

function print(out: Output, found: Status): void {
  const { url, up, ready, reason } = found;
  if (!up) out.note(`No Gantry server responds at ${url}`);
  else if (!ready) out.line(`${url} is up but not ready${reason === undefined ? "" : `: ${reason}`}`);
  else printReady(out, found);
}

function printReady(out: Output, { url, postgres, processes, me, installation }: Status): void {
  out.line(`${url} is up and ready`);
  if (postgres) out.line(`PostgreSQL ${postgres.version}, ${postgres.embedded ? "embedded" : "external"}`);
  if (processes) out.line(processLine(processes));
  if (installation) {
    const { nodes, predictions, users, models } = installation;
    out.line(
      `${nodes === 1 ? "1 node" : `${count(nodes)} nodes`}; predictions: ${count(predictions.running)} running, ` +
        `${count(predictions.waiting)} waiting; users: ${count(users.total)}; teams: ${count(users.teams)}; ` +
        `models: ${count(models.total)}`,
    );
  }
  if (!me) return;
  out.line(`The key belongs to ${me.username} (${me.role}, plan ${me.plan}); balance ${money(me.balance)}`);
  const { used_bytes: used, allowed_bytes: allowed } = me.storage;
  out.line(`Storage used: ${sizeOf(used)}${allowed === null ? "" : ` of ${sizeOf(allowed)}`}`);
}

/** A server that accepts the connection and does not answer counts as down. */
function within(ask: (options: { signal: AbortSignal }) => Promise<boolean>): Promise<boolean> {
  return ask({ signal: AbortSignal.timeout(longestAnswerMs) }).catch(() => false);
}

async function whyNotReady(url: string): Promise<string | undefined> {
  const answer = await fetch(`${url.replace(/\/+$/, "")}/readyz`, { signal: AbortSignal.timeout(longestAnswerMs) });
  const { reason } = (await answer.json()) as { reason?: unknown };
  return typeof reason === "string" ? reason : undefined;
}

/** Admins can see metrics, or anyone if the operator has opened them. */
async function readMetrics({ url, key }: Target): Promise<string> {
  const answer = await fetch(`${url.replace(/\/+$/, "")}/metrics`, {
    headers: key === undefined ? {} : { "x-api-key": key },
    // A redirect would take the key to another server.
    redirect: "error",
    signal: AbortSignal.timeout(longestAnswerMs),
  });
  return answer.ok ? answer.text() : "";
}

function postgresOf(metrics: string): Status["postgres"] {
  const [, version, embedded] =
    /^gantry_postgres_info\{version="([^"]+)",embedded="(true|false)"\} 1$/m.exec(metrics) ?? [];
  return version === undefined ? undefined : { version, embedded: embedded === "true" };
}

function processesOf(metrics: string): Status["processes"] {
  const countOf = (state: string) =>
    Number(new RegExp(`^gantry_processes\\{state="${state}"\\} (\\d+)$`, "m").exec(metrics)?.[1]);
  const [serving, missing] = [countOf("serving"), countOf("missing")];
  return Number.isNaN(serving) || Number.isNaN(missing) ? undefined : { serving, missing };
}

function processLine({ serving, missing }: { serving: number; missing: number }): string {
  if (missing > 0) return `${serving} of ${serving + missing} processes serve`;
  return serving === 1 ? "1 process" : `${serving} processes`;
}
