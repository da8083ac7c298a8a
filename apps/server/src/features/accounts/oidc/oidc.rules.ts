import { type RoleName, reservedUsernames, usernamePattern } from "@gantry/wire";

/** What the operator has decided about people of the provider. */
export interface OidcRules {
  /** Of the provider, for the button. */
  name: string;
  usernameClaim: string;
  groupsClaim: string;
  /** If empty, roles stay as admins of Gantry set them. */
  adminGroups: readonly string[];
  /** The first group that the person has decides; `*` is everyone. */
  planGroups: readonly { group: string; plan: string }[];
  /** If empty, everyone. */
  allowedGroups: readonly string[];
  /** Of a verified e-mail address. If empty, everyone. */
  allowedDomains: readonly string[];
  createsUsers: boolean;
  linksUsers: boolean;
  signsOut: boolean;
}

type Claims = Readonly<Record<string, unknown>>;

/** A claim may have dots in its name, or be inside of another one: `realm_access.roles`. */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let found: unknown = claims;
  for (const name of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Claims)[name];
  }
  return found;
}

const mostGroups = 2000;

export function groupsOf(claims: Claims, { groupsClaim }: OidcRules): ReadonlySet<string> {
  const listed = [claimAt(claims, groupsClaim)].flat().slice(0, mostGroups);
  return new Set(listed.filter((group): group is string => typeof group === "string"));
}

/** First names of the claims that the rules read. */
export function neededClaims({ usernameClaim, groupsClaim, ...rules }: OidcRules): string[] {
  const usesGroups = [rules.adminGroups, rules.allowedGroups, rules.planGroups.filter(({ group }) => group !== "*")];
  const asksVerified = rules.allowedDomains.length > 0 || (rules.linksUsers && usernameClaim === "email");
  return [
    usernameClaim,
    ...(usesGroups.some((groups) => groups.length > 0) ? [groupsClaim] : []),
    ...(asksVerified ? ["email", "email_verified"] : []),
  ].map((path) => path.replace(/\..*/, ""));
}

export function isAllowed(claims: Claims, groups: ReadonlySet<string>, rules: OidcRules): boolean {
  if (rules.allowedGroups.length > 0 && !rules.allowedGroups.some((group) => groups.has(group))) return false;
  if (rules.allowedDomains.length === 0) return true;
  const { email, email_verified: isVerified } = claims;
  if (typeof email !== "string" || isVerified !== true) return false;
  return rules.allowedDomains.includes(email.slice(email.lastIndexOf("@") + 1).toLowerCase());
}

/** `Anna.Smith@example.com` is `anna-smith`. Undefined if the claim cannot be a username. */
export function usernameOf(claims: Claims, { usernameClaim }: OidcRules): string | undefined {
  const claim = claimAt(claims, usernameClaim);
  if (typeof claim !== "string") return undefined;
  const name = claim
    .trim()
    .toLowerCase()
    .replace(/@.*/s, "")
    .replace(/[._+ ]+/g, "-");
  return usernamePattern.test(name) && !reservedUsernames.includes(name) ? name : undefined;
}

/**
 * Whether an existing user may be linked by the name. Without verification a person can enter any address,
 * and `anna@a.com` and `anna@b.com` have one name.
 */
export function namesOnePerson(
  { email_verified: isVerified }: Claims,
  { usernameClaim, allowedDomains }: OidcRules,
): boolean {
  return usernameClaim !== "email" || (isVerified === true && allowedDomains.length === 1);
}

/** Undefined: the role stays. */
export function roleOf(groups: ReadonlySet<string>, { adminGroups }: OidcRules): RoleName | undefined {
  if (adminGroups.length === 0) return undefined;
  return adminGroups.some((group) => groups.has(group)) ? "admin" : "user";
}

/** Undefined: the plan stays. */
export function planOf(groups: ReadonlySet<string>, { planGroups }: OidcRules): string | undefined {
  return planGroups.find(({ group }) => group === "*" || groups.has(group))?.plan;
}
