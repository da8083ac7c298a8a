import type { Database } from "../../src/engines/database/index.ts";
import type { Vault } from "../../src/engines/vault/vault.ts";
import { sealContext } from "../../src/features/connectors/idp/stored-connector.ts";
import { secretContext } from "../../src/features/runs/work/tool-calls.ts";
import { openSecrets } from "../../src/features/secrets/index.ts";
import { openServer, sealAuth } from "../../src/features/tool-servers/use-server.ts";
import { verificationContext } from "../../src/features/triggers/trigger.ts";
import { createSigningSecrets } from "../../src/features/webhooks/signing-secrets.ts";
import { openTarget, sealWebhook } from "../../src/features/webhooks/webhook.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { fillOAuth, openOAuth } from "./sealed-oauth.ts";

/** One value of each kind, sealed by the feature that owns it. */
export async function fillSealed(database: Database, vault: Vault, userId: string): Promise<void> {
  const secrets = openSecrets({ database, vault });
  await secrets.put(userId, "openai", "sk-of-a-model");
  const signing = createSigningSecrets({ database, vault, clock: systemClock });
  await signing.rotate(userId);
  const webhook = {
    url: "https://hooks.example.test/a",
    headers: { authorization: "of a receiver" },
    query_params: {},
  };
  for (const predictionId of ["pred_1", "pred_2"]) {
    const { destination, target } = sealWebhook(vault, { userId, predictionId }, webhook);
    if (predictionId === "pred_1")
      await database.sql`
        insert into live_predictions (id, user_id, key_id, model_id, model_name, route, queue_until, webhook_destination,
          webhook_target)
        values (${predictionId}, ${userId}, 'key_1', 'mdl_1', 'a/b', 'async', now() + interval '1 day', ${destination},
          ${target as Buffer})`;
    else
      await database.sql`
        insert into webhook_deliveries (id, user_id, prediction_id, model_name, destination, target, payload)
        values ('dlv_1', ${userId}, ${predictionId}, 'a/b', ${destination}, ${target as Buffer}, '{}')`;
  }
  // A prediction without a webhook and a tool server without a credential have nothing to open.
  await database.sql`
    insert into live_predictions (id, user_id, key_id, model_id, model_name, route, queue_until)
    values ('pred_3', ${userId}, 'key_1', 'mdl_1', 'a/b', 'async', now() + interval '1 day')`;
  const token = vault.seal("token-of-a-tenant", sealContext(userId, "tenant.example.test"));
  await database.sql`
    insert into idp_connectors (user_id, domain, sealed_token, token_last4)
    values (${userId}, 'tenant.example.test', ${token as Buffer}, 'nant')`;
  const ofRunWebhook = sealWebhook(vault, { userId, predictionId: "run_1" }, webhook);
  const ofNotices = sealWebhook(vault, { userId, predictionId: "notices" }, webhook);
  await database.sql`
    insert into notice_settings (user_id, webhook_destination, webhook_target)
    values (${userId}, ${ofNotices.destination}, ${ofNotices.target as Buffer})`;
  const trigger = vault.seal("of-a-sender", verificationContext(userId, "trg_1"));
  await database.sql`
    with agent as (
      insert into agents (id, owner_id, slug, visibility, latest_revision_id, created_at, updated_at)
      values ('agt_1', ${userId}, 'one', 'private', 'rev_1', now(), now())
    )
    insert into agent_revisions (id, agent_id, number, status, snapshot, warnings, created_at)
    values ('rev_1', 'agt_1', 1, 'draft', '{}', '[]', now())`;
  await database.sql`
    insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, input, timeout_ms, max_steps, base_url)
    values ('run_1', 'agt_1', 'rev_1', ${userId}, ${userId}, 'key_1', '{}', 1, 1, '')`;
  await database.sql`
    insert into run_webhooks (run_id, user_id, destination, target, events)
    values ('run_1', ${userId}, ${ofRunWebhook.destination}, ${ofRunWebhook.target as Buffer}, '{done}')`;
  await database.sql`
    insert into triggers (id, owner_id, agent_id, key_id, secret_hash, verification, verification_secret, enabled, overlap,
      approve, connectors)
    values ('trg_1', ${userId}, 'agt_1', 'key_1', '\\x00', '{"type":"github"}', ${trigger as Buffer}, true, 'parallel',
      '{}', '{}')`;
  const ofRun = vault.seal("made-by-a-tool", secretContext("run_1", "sec_1"));
  await database.sql`
    insert into run_secrets (id, run_id, field, sealed, expires_at)
    values ('sec_1', 'run_1', 'client_secret', ${ofRun as Buffer}, now() + interval '1 day')`;
  const place = { id: "mcp_1", ownerId: userId, url: "https://tools.example.test/mcp" };
  const auth = sealAuth({ vault } as Parameters<typeof sealAuth>[0], place, { type: "bearer", token: "of-a-server" });
  await database.sql`
    insert into tool_servers (id, owner_id, name, url, connection_type, auth_type, sealed_credential, status) values
      ('mcp_1', ${userId}, 'one', ${place.url}, 'sse', 'bearer', ${auth.sealedCredential as Buffer}, 'connected'),
      ('mcp_2', ${userId}, 'two', ${place.url}, 'sse', null, null, 'connected')`;
  await fillOAuth(database, vault, userId);
}

/** All values, opened by the features that own them. */
export async function openSealed(database: Database, vault: Vault, userId: string) {
  const { sql } = database;
  const signing = createSigningSecrets({ database, vault, clock: systemClock });
  const [live] = await sql<{ target: Uint8Array }[]>`
    select webhook_target as target from live_predictions where id = 'pred_1'`;
  const [delivery] = await sql<{ target: Uint8Array }[]>`select target from webhook_deliveries where id = 'dlv_1'`;
  const [connector] = await sql<{ token: Uint8Array }[]>`select sealed_token as token from idp_connectors`;
  const [ofRunWebhook] = await sql<{ target: Uint8Array }[]>`select target from run_webhooks`;
  const [ofNotices] = await sql<{ target: Uint8Array }[]>`select webhook_target as target from notice_settings`;
  const [trigger] = await sql<{ secret: Uint8Array }[]>`select verification_secret as secret from triggers`;
  const [ofRun] = await sql<{ sealed: Uint8Array }[]>`select sealed from run_secrets where id = 'sec_1'`;
  const [server] = await sql`
    select id, owner_id as "ownerId", revision, url, connection_type as "connectionType", auth_header as "authHeader",
      sealed_credential as "sealedCredential" from tool_servers where id = 'mcp_1'`;
  const context = { vault } as Parameters<typeof openServer>[0];
  return {
    secret: await openSecrets({ database, vault }).reveal(userId, "openai"),
    signing: signing.open((await signing.liveOf([userId])).get(userId) ?? []),
    live: openTarget(vault, { userId, predictionId: "pred_1" }, live?.target ?? new Uint8Array()),
    delivery: openTarget(vault, { userId, predictionId: "pred_2" }, delivery?.target ?? new Uint8Array()),
    connector: vault.open(connector?.token ?? new Uint8Array(), sealContext(userId, "tenant.example.test")),
    ofRunWebhook: openTarget(vault, { userId, predictionId: "run_1" }, ofRunWebhook?.target ?? new Uint8Array()),
    ofNotices: openTarget(vault, { userId, predictionId: "notices" }, ofNotices?.target ?? new Uint8Array()),
    trigger: vault.open(trigger?.secret ?? new Uint8Array(), verificationContext(userId, "trg_1")),
    ofRun: vault.open(ofRun?.sealed ?? new Uint8Array(), secretContext("run_1", "sec_1")),
    oauth: await openOAuth(database, vault, userId),
    server: openServer(context, server as unknown as Parameters<typeof openServer>[1]).target.header,
  };
}

/** One secret, two signing secrets, four targets, a token, a credential, secrets of a run and a trigger, four of OAuth. */
export const sealedTexts = 15;
