import { newId } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import type { Clock } from "../../kernel/clock.ts";
import { fault } from "../../kernel/errors.ts";
import { everythingOf, type Scope } from "../accounts/index.ts";
import { shownHeaders } from "./send-delivery.ts";
import { createSigningSecrets } from "./signing-secrets.ts";
import {
  countPendingTests,
  type DeliveryFilter,
  enqueueDelivery,
  findDelivery,
  isErased,
  type ListedRow,
  markForResend,
  selectAttempts,
  selectDeliveries,
  selectDeliveryIds,
} from "./store.ts";
import {
  type Delivery,
  type DeliveryDetails,
  openTarget,
  type SealedWebhook,
  sealWebhook,
  shownUrl,
  type Webhook,
  type WebhookOwner,
} from "./webhook.ts";

export interface Webhooks {
  /** Call it when the prediction is accepted: webhooks are stored sealed. */
  seal(owner: WebhookOwner, webhook: Webhook): SealedWebhook;
  /** Newest first. */
  list(
    scope: Scope,
    filter: DeliveryFilter,
    range: { limit: number; offset: number },
  ): Promise<{ deliveries: Delivery[]; total: number }>;
  read(scope: Scope, id: string): Promise<DeliveryDetails>;
  /** All deliveries of a user, newest first. */
  export(userId: string): AsyncGenerator<DeliveryDetails>;
  /** Sends a made-up result once. */
  sendTest(userId: string, url: string): Promise<Delivery>;
  /** In any status, under the same id and with a new retry schedule. */
  resend(scope: Scope, id: string): Promise<Delivery>;
  /** Secrets that sign now, newest first. */
  secrets(userId: string): Promise<string[]>;
  rotateSecret(userId: string): Promise<string[]>;
}

const shownAttempts = 50;
const exportedAtOnce = 500;
const unrecorded =
  "The result of this attempt was not stored: the server stopped during it, or an earlier version of Gantry sent it.";
const mostPendingTests = 10;
const testModel = "gantry/text";

/** The shape of a queued prediction's result, so that receivers can be tried out with it. */
function testPayload({ userId, predictionId }: WebhookOwner): object {
  return {
    prediction_id: predictionId,
    model: testModel,
    test: true,
    infer_details: {
      status: 200,
      user_id: userId,
      request_id: predictionId,
      inference_time: 0.5,
      stream_details: null,
    },
    response: { output: "This is a test event of Gantry." },
    files: {},
  };
}

function payloadOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // its owner deleted the content of the prediction
  }
}

export function openWebhooks(deps: { database: Database; vault: Vault; clock: Clock }): Webhooks {
  const { database, vault } = deps;
  const signing = createSigningSecrets(deps);

  function toDelivery({ userId: _owner, destination: _origin, target: _sealed, ...row }: ListedRow, url: string) {
    return { ...row, url };
  }

  const urlOf = (row: ListedRow) => shownUrl(vault, row, row);

  function headersFor(row: ListedRow): Record<string, string> {
    try {
      return shownHeaders(openTarget(vault, row, row.target), row.id);
    } catch {
      return {}; // sealed with a key that this server no longer has
    }
  }

  async function find(scope: Scope, id: string): Promise<DeliveryDetails | undefined> {
    const row = await findDelivery(database.sql, scope, id);
    if (!row) return undefined;
    const { payload, ...listed } = row;
    const attempts = await selectAttempts(database.sql, id, shownAttempts);
    return {
      ...toDelivery(listed, urlOf(row)),
      headers: headersFor(row),
      payload: payloadOf(payload),
      attemptLog: attempts.map((one) => (one.at === null ? { ...one, error: unrecorded } : one)),
    };
  }

  return {
    seal: (owner, webhook) => sealWebhook(vault, owner, webhook),
    async list(scope, filter, range) {
      const { rows, total } = await selectDeliveries(database.sql, scope, filter, range);
      return { deliveries: rows.map((row) => toDelivery(row, urlOf(row))), total };
    },
    async read(scope, id) {
      const details = await find(scope, id);
      if (!details) throw fault("not_found", "Delivery not found");
      return details;
    },
    async *export(userId) {
      for (let before: string | undefined; ; ) {
        const ids: string[] = await selectDeliveryIds(database.sql, userId, before, exportedAtOnce);
        for (const id of ids) {
          const details = await find(everythingOf(userId), id);
          if (details) yield details;
        }
        if (ids.length < exportedAtOnce) return;
        before = ids.at(-1);
      }
    },
    async sendTest(userId, url) {
      if ((await countPendingTests(database.sql, userId)) >= mostPendingTests) {
        throw fault("rate_limit", `${mostPendingTests} test events are still waiting. Try again when they are sent.`, {
          retryAfterSeconds: 5,
        });
      }
      const owner = { userId, predictionId: newId("event") };
      const webhook = sealWebhook(vault, owner, { url, headers: {}, query_params: {} });
      await database.transaction((tx) =>
        enqueueDelivery(tx, { ...owner, modelName: testModel, webhook, payload: testPayload(owner) }),
      );
      const { rows } = await selectDeliveries(
        database.sql,
        everythingOf(userId),
        { predictionId: owner.predictionId },
        { limit: 1, offset: 0 },
      );
      const [row] = rows;
      if (!row) throw fault("not_found", "Delivery not found");
      return toDelivery(row, urlOf(row));
    },
    async resend(scope, id) {
      const row = await markForResend(database.sql, scope, id);
      if (!row && (await isErased(database.sql, scope, id)))
        throw fault(
          "conflict",
          "The content of the prediction or run was deleted, so its webhook cannot be sent again.",
        );
      if (!row) throw fault("not_found", "Delivery not found");
      return toDelivery(row, urlOf(row));
    },
    secrets: async (userId) => signing.open((await signing.liveOf([userId])).get(userId) ?? []),
    rotateSecret: (userId) => signing.rotate(userId),
  };
}
