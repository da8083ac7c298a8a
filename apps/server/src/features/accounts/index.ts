export type { Caller } from "./caller.ts";
export type { Page } from "./context.ts";
export type { NewKey } from "./create-key.ts";
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
export { type Accounts, openAccounts } from "./open-accounts.ts";
export { verifyPassword } from "./password.ts";
export type { Plan } from "./plan-store.ts";
export { signInUrl } from "./sign-in-link.rules.ts";
export type { Key, User } from "./store.ts";
