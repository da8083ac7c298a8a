import { parseArgs } from "node:util";
import { createClient, type GantryClient } from "@gantry/sdk";
import { orPrintError, target } from "./server-tools.ts";

const longestAnswerMs = 5_000;

/** A server that accepts the connection and does not answer counts as down. */
function within(ask: (options: { signal: AbortSignal }) => Promise<boolean>): Promise<boolean> {
  return ask({ signal: AbortSignal.timeout(longestAnswerMs) }).catch(() => false);
}

async function whyNotReady(url: string): Promise<string | undefined> {
  const answer = await fetch(`${url.replace(/\/+$/, "")}/readyz`, { signal: AbortSignal.timeout(longestAnswerMs) });
  const { reason } = (await answer.json()) as { reason?: unknown };
  return typeof reason === "string" ? reason : undefined;
}

/** Read from the metrics, which admins can see, or anyone if the operator has opened them. */
async function postgresVersion(url: string, key: string | undefined): Promise<string | undefined> {
  const answer = await fetch(`${url.replace(/\/+$/, "")}/metrics`, {
    headers: key === undefined ? {} : { "x-api-key": key },
    signal: AbortSignal.timeout(longestAnswerMs),
  });
  if (!answer.ok) return undefined;
  const [, version, isEmbedded] =
    /^gantry_postgres_info\{version="([^"]+)",embedded="(true|false)"\} 1$/m.exec(await answer.text()) ?? [];
  if (version === undefined) return undefined;
  return `PostgreSQL ${version}, ${isEmbedded === "true" ? "embedded" : "external"}`;
}

const notAsked = 2;

export function status(args: readonly string[]): Promise<number> {
  return orPrintError(async () => {
    const { values } = parseArgs({ args: [...args], options: { url: { type: "string" }, key: { type: "string" } } });
    const { url, key } = await target(values);
    const client = createClient({ url, key });
    return orPrintError(() => askStatus(client, { url, key }));
  }, notAsked);
}

async function askStatus(
  client: GantryClient,
  { url, key }: { url: string; key: string | undefined },
): Promise<number> {
  if (!(await within(client.isUp))) {
    console.error(`No Gantry server responds at ${url}`);
    return notAsked;
  }
  const ready = await within(client.isReady);
  if (!ready) {
    const reason = await whyNotReady(url).catch(() => undefined);
    console.log(`${url} is up but not ready${reason === undefined ? "" : `: ${reason}`}`);
    return 1;
  }
  console.log(`${url} is up and ready`);
  const postgres = await postgresVersion(url, key).catch(() => undefined);
  if (postgres !== undefined) console.log(postgres);
  if (key === undefined) return 0;
  const me = await client.me({ signal: AbortSignal.timeout(longestAnswerMs) });
  console.log(`The key belongs to ${me.username} (${me.role}, plan ${me.plan}); balance ${me.balance} ${me.currency}`);
  const { used_bytes: used, allowed_bytes: allowed } = me.storage;
  console.log(`Storage used: ${used} bytes${allowed === null ? "" : ` of ${allowed}`}`);
  return 0;
}
