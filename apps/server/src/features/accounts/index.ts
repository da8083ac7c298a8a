export type { Caller, Page } from "./context.ts";
export { asPresentedSession } from "./key-format.rules.ts";
export {
  everythingOf,
  isConfined,
  keyReaches,
  mayAdministrate,
  type Scope,
  scopeOf,
} from "./key-reach.rules.ts";
export { type KeyRequest, readKeyRequest } from "./key-request.rules.ts";
export type { NewKey } from "./keys.ts";
export { type Accounts, openAccounts } from "./open-accounts.ts";
export { verifyPassword } from "./password.ts";
export type { Plan } from "./plans.ts";
export { revokeEndedSessions } from "./sessions.ts";
export { deleteSignInLinks, signInUrl } from "./sign-in-links.ts";
export { deleteRetiredPairs, type Key, type User } from "./store.ts";
