import type { Caller } from "./caller.ts";
import type { AccountsContext } from "./context.ts";
import { digestOf, hashOf } from "./key-format.rules.ts";
import { deleteSession, markSessionEnded } from "./sign-in-store.ts";
import { announceChange } from "./store.ts";

/** Signs out. A key that was brought works on; one that a link made cannot be used any more, but what it began goes on. */
export async function endSession(
  context: AccountsContext,
  { userId, keyId }: Caller,
  presented: string,
): Promise<void> {
  await context.database.transaction(async (tx) => {
    await deleteSession(tx, keyId, hashOf(digestOf(presented)));
    await markSessionEnded(tx, keyId, context.clock.now());
    await announceChange(tx, userId);
  });
  context.forgetUser(userId);
}
