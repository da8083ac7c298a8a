import type { Caller } from "./caller.ts";
import type { AccountsContext } from "./context.ts";
import { markSessionEnded } from "./sign-in-store.ts";
import { announceChange } from "./store.ts";

/** Signs out whoever a link signed in: the key can be presented no more. What was begun with it goes on. */
export async function endSession(context: AccountsContext, { userId, keyId }: Caller): Promise<void> {
  await context.database.transaction(async (tx) => {
    await markSessionEnded(tx, keyId, context.clock.now());
    await announceChange(tx, userId);
  });
  context.forgetUser(userId);
}
