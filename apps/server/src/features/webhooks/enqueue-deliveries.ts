import { newId } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import { insertDeliveries } from "./store.ts";
import type { NewDelivery } from "./webhook.ts";

/**
 * Called by whoever ends predictions, inside the transaction that ends them: one statement, whatever their number. The
 * senders of all nodes hear of it when the transaction commits. A prediction that has a delivery gets no second one.
 */
export async function enqueueDeliveries(tx: Transaction, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  await insertDeliveries(
    tx,
    deliveries.map((one) => ({
      id: newId("delivery"),
      userId: one.userId,
      predictionId: one.predictionId,
      modelName: one.modelName,
      destination: one.webhook.destination,
      target: one.webhook.target,
      payload: JSON.stringify(one.payload),
      trace: one.trace ?? null,
    })),
  );
}

export const enqueueDelivery = (tx: Transaction, delivery: NewDelivery): Promise<void> =>
  enqueueDeliveries(tx, [delivery]);
