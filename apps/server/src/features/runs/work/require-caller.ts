import type { Accounts, Caller } from "../../accounts/index.ts";
import type { Run } from "../run.ts";
import { keyIsGone } from "./stopped.ts";

export interface CallerDeps {
  accounts: Pick<Accounts, "callerOfKey">;
}

/** Asked before anything is sent or written for a run's caller. The run ends where the key works no longer. */
export async function requireCaller({ accounts }: CallerDeps, { keyId }: Pick<Run, "keyId">): Promise<Caller> {
  const caller = await accounts.callerOfKey(keyId);
  if (!caller) throw keyIsGone();
  return caller;
}
