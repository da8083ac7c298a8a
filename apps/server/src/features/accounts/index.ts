export { deleteAccessToken, deleteAccessTokens, storeAccessToken } from "./access-tokens.ts";
export type { Authenticate, Caller, CallerTeam, Page, Resource } from "./context.ts";
export type { AccountDeletion } from "./deletion/delete-account.ts";
export type { LinkedIdentity } from "./export-store.ts";
export { asPresentedSession, newTokenPair, sameHash } from "./key-format.rules.ts";
export { deleteKeyDays } from "./key-limit-store.ts";
export {
  everythingOf,
  isConfined,
  isLimited,
  keyReaches,
  mayAdministrate,
  mayAuthorize,
  type Scope,
  scopeOf,
} from "./key-reach.rules.ts";
export { type KeyRequest, readKeyChange, readKeyRequest } from "./key-request.rules.ts";
export { endKey, type NewKey } from "./keys.ts";
export type { OidcRules } from "./oidc/oidc.rules.ts";
export { type Accounts, openAccounts } from "./open-accounts.ts";
export { verifyPassword } from "./password.ts";
export { deleteFullBuckets, networkOf } from "./passwords/attempts.ts";
export { deletePasswordResets } from "./passwords/password-store.ts";
export type { SignedIn } from "./passwords/passwords.ts";
export { passwordResetUrl } from "./passwords/resets.ts";
export type { Plan } from "./plans.ts";
export { andOfKeys, ofKeys, rowsOfKeys } from "./scope-store.ts";
export type { Session } from "./session-list.ts";
export { revokeEndedSessions } from "./sessions.ts";
export { deleteSignInLinks, signInUrl } from "./sign-in-links.ts";
export type { Client, SignInOptions } from "./sign-in-options.ts";
export { announceChange, deleteRetiredPairs, type Key, type User } from "./store.ts";
export { refuseExpiring } from "./teams/acting.ts";
export type { SeenMember } from "./teams/members.ts";
export { isPlainMember, manages, shownMonthlyLimit } from "./teams/team.rules.ts";
export type { Team } from "./teams/team-store.ts";
