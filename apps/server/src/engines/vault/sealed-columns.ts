export interface SealedColumn {
  table: string;
  column: string;
  /** Columns that identify the text and its owner. */
  of: readonly string[];
  /** The sealing context, from the values of those columns. */
  context(values: readonly string[]): string;
}

/** All columns with sealed texts, for re-encryption. A test finds byte columns that are missing here. */
export const sealedColumns: readonly SealedColumn[] = [
  {
    table: "secrets",
    column: "sealed",
    of: ["owner_id", "name"],
    context: ([owner, name]) => `secret:${owner}:${name}`,
  },
  {
    table: "live_predictions",
    column: "webhook_target",
    of: ["user_id", "id"],
    context: ([user, prediction]) => `webhook:${user}:${prediction}`,
  },
  {
    table: "webhook_deliveries",
    column: "target",
    of: ["user_id", "prediction_id"],
    context: ([user, prediction]) => `webhook:${user}:${prediction}`,
  },
  {
    table: "webhook_secrets",
    column: "sealed",
    of: ["user_id", "number"],
    context: ([user, number]) => `webhook-secret:${user}:${number}`,
  },
  {
    table: "idp_connectors",
    column: "sealed_token",
    of: ["user_id", "domain"],
    context: ([user, domain]) => `idp:${user}:${domain}`,
  },
  {
    table: "tool_servers",
    column: "sealed_credential",
    of: ["owner_id", "id", "url"],
    context: ([owner, id, url = ""]) => `tool-server:${owner}:${id}:${new URL(url).hostname}`,
  },
  {
    table: "tool_server_oauth",
    column: "sealed_secret",
    of: ["server_id"],
    context: ([server]) => `tool-server-secret:${server}`,
  },
  {
    table: "tool_server_clients",
    column: "sealed",
    of: ["server_id", "redirect_uri"],
    context: ([server, redirect]) => `tool-server-client:${server}:${redirect}`,
  },
  {
    table: "tool_server_flows",
    column: "sealed",
    of: ["user_id", "server_id"],
    context: ([user, server]) => `tool-server-flow:${user}:${server}`,
  },
  {
    table: "tool_server_authorizations",
    column: "sealed_tokens",
    of: ["user_id", "server_id"],
    context: ([user, server]) => `tool-server-tokens:${user}:${server}`,
  },
  {
    table: "run_secrets",
    column: "sealed",
    of: ["run_id", "id"],
    context: ([run, id]) => `run-secret:${run}:${id}`,
  },
  {
    table: "run_webhooks",
    column: "target",
    of: ["user_id", "run_id"],
    context: ([user, run]) => `webhook:${user}:${run}`,
  },
  {
    table: "notice_settings",
    column: "webhook_target",
    of: ["user_id"],
    context: ([user]) => `webhook:${user}:notices`,
  },
  {
    table: "triggers",
    column: "verification_secret",
    of: ["owner_id", "id"],
    context: ([owner, id]) => `trigger:${owner}:${id}`,
  },
];
