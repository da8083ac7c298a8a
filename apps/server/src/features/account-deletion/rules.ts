import type { Sql } from "../../engines/database/database.ts";

type Query = ReturnType<Sql>;

/**
 * What the deletion of an account does with a table:
 *
 * - `delete`: the rows with the account in this column, or with one of the account's rows of another table (`of`).
 * - `walk`: the column has no index, so ids with this prefix are read in portions, from the account's creation on.
 * - `with`: the rows go with those of the other table.
 * - `empty`: the rows stay, because rows of others or the books refer to them. Their contents go.
 * - `by`: another feature deletes more than rows.
 * - `keep`: the rows stay, for this reason.
 * - `none`: the table has nothing of a user, for this reason.
 */
export type Rule =
  | { delete: string; of?: { table: string; owner: string } }
  | { delete: string; walk: "pred" | "resp"; children?: readonly string[] }
  | { with: string }
  | { empty(sql: Sql, userId: string, most: number): Query }
  | { by: "files" | "drives" | "runs" | "usage" }
  | { keep: string }
  | { none: string };

const ofKeys = { table: "api_keys", owner: "user_id" } as const;
const ofModels = { table: "models", owner: "owner_id" } as const;

const emptySnapshot = '{"name":"Deleted agent","model":"","tools":[]}';
const books = "The books count it. It has ids, moments and figures.";
const ofService = "Belongs to the installation.";

/** In the order of deletion: rows that refer to others go first. A test compares it with the schema. */
export const rules: Readonly<Record<string, Rule>> = {
  schedules: { delete: "user_id" },
  // Before their triggers and batches, which may have millions.
  trigger_deliveries: { delete: "trigger_id", of: { table: "triggers", owner: "owner_id" } },
  triggers: { delete: "owner_id" },

  files: { by: "files" },
  open_links: { with: "files" },
  deleted_files: { none: "Addresses of deleted bytes, until the store has deleted them." },

  runs: { by: "runs" },
  run_steps: { with: "runs" },
  run_calls: { with: "runs" },
  run_events: { with: "runs" },
  run_confirmations: { with: "runs" },
  run_secrets: { with: "runs" },
  run_webhooks: { with: "runs" },
  run_webhook_events: { with: "runs" },
  threads: { delete: "user_id" },

  responses: { delete: "user_id", walk: "resp" },
  batch_lines: { delete: "batch_id", of: { table: "batches", owner: "user_id" } },
  batches: { delete: "user_id" },
  ended_predictions: { delete: "user_id", walk: "pred", children: ["prediction_fragments", "prediction_traces"] },
  prediction_fragments: { with: "ended_predictions" },
  prediction_traces: { with: "ended_predictions" },
  deleted_predictions: { delete: "user_id", walk: "pred" },
  live_predictions: { none: "All have ended before." },
  idempotency_keys: { delete: "user_id" },
  notice_dismissals: { delete: "user_id" },
  notices: { delete: "user_id" },
  notice_settings: { delete: "user_id" },
  webhook_deliveries: { delete: "user_id" },
  webhook_attempts: { with: "webhook_deliveries" },
  webhook_secrets: { delete: "user_id" },

  drives: { by: "drives" },
  drive_items: { with: "drives" },
  drive_indexes: { with: "drives" },
  drive_index_files: { with: "drives" },
  drive_index_vectors: { with: "drives" },
  drive_chunks: { with: "drives" },
  drive_loose_blobs: { none: "Addresses of deleted bytes, until the store has deleted them." },
  upload_totals: { delete: "user_id" },

  agents: {
    empty: (sql, userId, most) => sql`
      update agents set slug = id, visibility = 'private', published_revision_id = null, published_at = null,
        search_text = null, taken_down = null, deleted_at = coalesce(deleted_at, now())
      where id in (select id from agents where owner_id = ${userId} and slug <> id limit ${most})`,
  },
  agent_revisions: {
    empty: (sql, userId, most) => sql`
      update agent_revisions set snapshot = ${emptySnapshot}::text::json, warnings = '[]' where id in (
        select r.id from agents a join agent_revisions r on r.agent_id = a.id
        where a.owner_id = ${userId} and r.snapshot::text <> ${emptySnapshot} limit ${most})`,
  },
  backend_calls: { delete: "model_id", of: ofModels },
  backend_circuits: { delete: "model_id", of: ofModels },
  backend_figures: { delete: "model_id", of: ofModels },
  backend_slots: { delete: "model_id", of: ofModels },
  model_flow: { delete: "model_id", of: ofModels },
  model_lines: { delete: "user_id" },
  model_slots: { delete: "model_id", of: ofModels },
  models: { delete: "owner_id" },
  model_aliases: { delete: "owner_id" },
  providers: { delete: "owner_id" },
  secrets: { delete: "owner_id" },

  tool_server_authorizations: { delete: "user_id" },
  tool_server_flows: { delete: "user_id" },
  tool_servers: { delete: "owner_id" },
  tool_server_clients: { with: "tool_servers" },
  tool_server_oauth: { with: "tool_servers" },
  idp_connectors: { delete: "user_id" },

  sign_in_links: { delete: "user_id" },
  password_resets: { delete: "user_id" },
  oidc_identities: { delete: "user_id" },
  oauth_access_tokens: { delete: "key_id", of: ofKeys },
  oauth_connections: { delete: "key_id", of: ofKeys },
  oauth_clients: { none: "Apps register themselves, before any user connects them." },
  retired_key_pairs: { delete: "key_id", of: ofKeys },
  key_tokens: { delete: "key_id", of: ofKeys },
  api_keys: {
    // The seats of a person in teams have its name, too.
    empty: (sql, userId, most) => sql`
      update api_keys set name = '', models = null, last_used_at = null where id in (
        select id from api_keys
        where (user_id = ${userId} or member_id = ${userId} and parent_id is null)
          and (name <> '' or models is not null or last_used_at is not null) limit ${most})`,
  },
  // Left when the deletion was requested, unless the person was added in that moment.
  team_members: { delete: "user_id" },

  usage: { by: "usage" },
  usage_default: { with: "usage" },
  usage_hours: { with: "usage" },
  usage_days: { with: "usage" },
  ledger: { keep: "Entries never change. Their accounts are ids." },
  wallets: { keep: books },
  key_months: { keep: books },
  key_days: { keep: books },
  users: { keep: "The owner of what stays, with a neutral name." },
  account_deletions: { keep: "Says when the account was deleted." },
  reserved_usernames: { keep: "The hash of the name, so that no other account gets its addresses." },
  audit_records: { keep: "A chain of hashes. Retention deletes old records." },

  audit_chain: { none: ofService },
  clock_marks: { none: ofService },
  nodes: { none: ofService },
  notice_search: { none: ofService },
  plans: { none: ofService },
  schema_functions: { none: ofService },
  schema_migrations: { none: ofService },
  service_samples: { none: ofService },
  settings: { none: ofService },
  usage_marks: { none: ofService },
  sign_in_attempts: { none: "Counts by hash, and forgets within a day." },
};
