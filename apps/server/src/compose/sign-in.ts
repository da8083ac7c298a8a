import type { SignInWay } from "@gantry/wire";
import type { Config } from "../config/config.ts";
import type { Net } from "../engines/net/net.ts";
import { createOidc } from "../engines/oidc/create-oidc.ts";
import type { Vault } from "../engines/vault/vault.ts";
import type { SignInOptions } from "../features/accounts/index.ts";

/** `net` may reach the issuer, whatever its address. */
export function signInOptions(config: Config, vault: Vault, net: Net): SignInOptions {
  const { GANTRY_SIGN_IN: chosen, GANTRY_OIDC_ISSUER: issuer, GANTRY_OIDC_CLIENT_ID: clientId } = config;
  const hasProvider = issuer !== undefined && clientId !== undefined;
  const usual: readonly SignInWay[] = ["link", "key", "password", ...(hasProvider ? (["oidc"] as const) : [])];
  const ways = new Set(chosen ?? usual);
  const client = { clientSecret: config.GANTRY_OIDC_CLIENT_SECRET, scopes: config.GANTRY_OIDC_SCOPES };
  return {
    ways,
    hidesUnusedPasswords: chosen === undefined,
    minPasswordLength: config.GANTRY_PASSWORD_MIN_LENGTH,
    vault,
    oidc:
      hasProvider && ways.has("oidc")
        ? { engine: createOidc(net, { issuer, clientId, ...client }), rules: oidcRules(config) }
        : undefined,
  };
}

function oidcRules(config: Config): NonNullable<SignInOptions["oidc"]>["rules"] {
  return {
    name: config.GANTRY_OIDC_NAME,
    usernameClaim: config.GANTRY_OIDC_USERNAME_CLAIM,
    groupsClaim: config.GANTRY_OIDC_GROUPS_CLAIM,
    adminGroups: config.GANTRY_OIDC_ADMIN_GROUPS,
    planGroups: config.GANTRY_OIDC_PLAN_GROUPS,
    allowedGroups: config.GANTRY_OIDC_ALLOWED_GROUPS,
    allowedDomains: config.GANTRY_OIDC_ALLOWED_DOMAINS,
    createsUsers: config.GANTRY_OIDC_CREATE_USERS,
    linksUsers: config.GANTRY_OIDC_LINK_USERS,
    signsOut: config.GANTRY_OIDC_LOGOUT,
  };
}
