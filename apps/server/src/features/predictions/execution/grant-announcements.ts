import type { Database } from "../../../engines/database/database.ts";
import type { GrantedSlot } from "../store.ts";
import type { HeldPredictions } from "./held-predictions.ts";

const channel = "gantry_granted";
// A notification carries at most 8000 bytes; an id has 31 characters.
const idsPerNotice = 200;

export interface GrantAnnouncements {
  announce(grants: readonly GrantedSlot[]): Promise<void>;
  stop(): Promise<void>;
}

/** Tells the node that holds a waiting prediction that its slot is there: directly when it is this one, else by NOTIFY. */
export async function startGrantAnnouncements(
  database: Database,
  nodeId: string,
  held: HeldPredictions,
): Promise<GrantAnnouncements> {
  const listener = await database.listen(channel, (payload) => {
    for (const id of payload.split(",")) held.granted(id);
  });
  return {
    async announce(grants) {
      const elsewhere: string[] = [];
      for (const grant of grants) {
        if (grant.holder === nodeId) held.granted(grant.id);
        else elsewhere.push(grant.id);
      }
      for (let from = 0; from < elsewhere.length; from += idsPerNotice) {
        await database.sql`select pg_notify(${channel}, ${elsewhere.slice(from, from + idsPerNotice).join(",")})`;
      }
    },
    stop: () => listener.stop(),
  };
}
