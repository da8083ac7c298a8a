import { isDeepStrictEqual } from "node:util";
import type { AuditObjectType } from "@gantry/wire";

export type Fields = Readonly<Record<string, unknown>>;

/** What a record may show of an object. A field that is not listed here is never recorded, so secrets cannot slip in. */
const shown: Readonly<Record<AuditObjectType, readonly string[]>> = {
  session: ["by", "attempts", "reason"],
  sign_in_link: ["expires_at"],
  user: ["role", "plan", "disabled", "password", "expires_at", "issuer", "subject", "members"],
  key: [
    ...["name", "models", "expires_at", "monthly_limit", "daily_limit", "tokens_per_minute", "keep_inputs", "public"],
    "old_valid_until",
  ],
  team: [],
  member: ["role", "monthly_limit", "daily_limit", "tokens_per_minute"],
  plan: ["requests_per_minute", "parallel", "storage_bytes"],
  credit: ["amount", "reason", "balance"],
  model: ["title", "kind", "visibility", "capacity", "pricing", "version", "provider", "reason", "changed"],
  alias: ["model"],
  provider: ["type", "url", "secret", "headers", "query"],
  secret: ["replaced"],
  webhook_secret: [],
  notice_settings: ["balance_below", "budget_percent", "webhook"],
  agent: ["name", "slug", "visibility", "pricing", "revision", "reason", "changed"],
  confirmation: ["run_id", "tool", "status"],
  schedule: ["name", "agent_id", "cron", "timezone", "enabled", "max_cost", "approve", "connectors", "changed"],
  trigger: ["name", "agent_id", "enabled", "overlap", "max_cost", "approve", "connectors", "changed"],
  drive: ["name", "description"],
  tool_server: ["name", "url", "auth", "changed"],
  connector: ["domain", "scopes", "expires_at"],
  settings: ["values"],
  installation: ["re_encrypted", "unreadable", "backup_of", "replaced"],
};

const longestText = 500;
const longestSide = 8_000;

/** The allowed fields that differ, bounded. A side that does not exist is null. */
export function changedFields(
  type: AuditObjectType,
  before: Fields | undefined,
  after: Fields | undefined,
): { before: Fields | null; after: Fields | null } {
  const allowed = shown[type];
  const names = allowed.filter((name) => !isDeepStrictEqual(plain(before?.[name]), plain(after?.[name])));
  return { before: sideOf(before, names), after: sideOf(after, names) };
}

/** Names of fields that differ, without their values. */
export function changedNames(before: object, after: object): string[] {
  const [a, b] = [before, after] as [Fields, Fields];
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].filter((name) => !isDeepStrictEqual(plain(a[name]), plain(b[name]))).sort();
}

function sideOf(fields: Fields | undefined, names: readonly string[]): Fields | null {
  if (!fields) return null;
  const entries = names.map((name) => [name, bounded(plain(fields[name]))] as const);
  const side = Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  if (JSON.stringify(side).length <= longestSide) return side;
  return Object.fromEntries(names.map((name) => [name, "(too long to record)"]));
}

/** As it is written: dates become text. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function bounded(value: unknown): unknown {
  if (typeof value === "string") return clipped(value, longestText);
  if (Array.isArray(value)) return value.map(bounded);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, bounded(one)]));
}

/** An address without what may be secret in it: user, path and query. */
export function originOf(url: string): string {
  return URL.parse(url)?.origin ?? "";
}

export function clipped(text: string, most: number): string {
  const shown = text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
  // PostgreSQL reads no JSON with half of a surrogate pair.
  return shown.toWellFormed();
}
