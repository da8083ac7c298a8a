import type { Sql } from "../../engines/database/database.ts";
import { deleteDeliveries } from "./store.ts";

/** So that no statement runs into its deadline. */
const atOnce = 5_000;

/** Forgets the deliveries made before a date. Those still to be sent stay until they have ended. Answers how many went. */
export async function dropDeliveriesBefore(sql: Sql, date: Date): Promise<number> {
  for (let dropped = 0; ; ) {
    const count = await deleteDeliveries(sql, date, atOnce);
    dropped += count;
    if (count < atOnce) return dropped;
  }
}
