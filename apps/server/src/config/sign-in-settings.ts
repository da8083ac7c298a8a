import { type SignInWay, signInWays } from "@gantry/wire";
import { type NetworkEntry, parseNetworkEntry } from "../kernel/network-entry.ts";
import { flag, flagOn, headerValue, integer, type Setting, text, webAddress, wrong } from "./setting-kinds.ts";

const listed = (given: string | undefined): string[] =>
  (given ?? "")
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");

const list = (meaning: string, takes: string, convert = (one: string) => one): Setting<readonly string[]> => ({
  meaning,
  shown: "unset",
  takes,
  read: (given) => listed(given).map(convert),
});

const groupNames = "names of groups, separated by commas";

const ways: Setting<readonly SignInWay[] | undefined> = {
  meaning:
    "Ways to sign in to the console. What is not in the list is refused. " +
    "If unset, the form for passwords is shown once a user has a password.",
  shown: "link,key,password, and oidc if GANTRY_OIDC_ISSUER is set",
  takes: `some of ${signInWays.join(", ")}, separated by commas`,
  read(given) {
    if (given === undefined) return undefined;
    const found = listed(given).map((one) => signInWays.find((way) => way === one) ?? wrong(`must be ${ways.takes}`));
    return found.length > 0 ? found : wrong(`must be ${ways.takes}`);
  },
};

const planGroups: Setting<readonly { group: string; plan: string }[]> = {
  meaning:
    "Plans of people by their groups at the provider, applied at each sign-in. The first match decides; * is everyone.",
  shown: "unset",
  takes: "group=plan pairs separated by commas",
  read: (given) =>
    listed(given).map((pair) => {
      // A group may have an = in its name, such as a distinguished name. A plan does not.
      const at = pair.lastIndexOf("=");
      const [group, plan] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
      return at > 0 && group !== "" && plan !== "" ? { group, plan } : wrong(`must be ${planGroups.takes}`);
    }),
};

const proxies = "IP addresses and networks, separated by commas";

const trustedProxies: Setting<readonly NetworkEntry[]> = {
  meaning:
    "Reverse proxies whose X-Forwarded-For header is believed. Set it behind a proxy: limits of failed sign-ins and the list " +
    "of sessions then see the addresses of clients.",
  shown: "unset",
  takes: proxies,
  read: (given) =>
    listed(given).map((part) => {
      const entry = parseNetworkEntry(part);
      return entry?.kind === "range" && entry.port === undefined ? entry : wrong(`must be ${proxies}`);
    }),
};

const address = webAddress(
  "Issuer URL of an OpenID provider for single sign-on, exactly as the provider states it. It may have a private address.",
);

/** A slash at the end is part of the issuer. */
const issuer: Setting<string | undefined> = { ...address, read: (given) => address.read(given) && given };

/** How people sign in to the console. */
export const signInSettings = {
  GANTRY_SIGN_IN: ways,
  GANTRY_TRUSTED_PROXIES: trustedProxies,
  GANTRY_PASSWORD_MIN_LENGTH: integer("Characters that a new password must have.", 10, 8, 128),
  GANTRY_OIDC_ISSUER: issuer,
  GANTRY_OIDC_CLIENT_ID: headerValue("Client ID of Gantry at the provider.", 1, 512),
  GANTRY_OIDC_CLIENT_SECRET: headerValue("Client secret. Unset for a public client.", 1, 1024),
  GANTRY_OIDC_SCOPES: text("Scopes to request, separated by spaces.", "openid profile email"),
  GANTRY_OIDC_NAME: text("Name of the provider on the button of the sign-in page.", "single sign-on"),
  GANTRY_OIDC_USERNAME_CLAIM: text(
    "Claim with the username of a new user. What follows an @ is dropped; dots, underscores and spaces become hyphens.",
    "preferred_username",
  ),
  GANTRY_OIDC_GROUPS_CLAIM: text("Claim with the groups of a person, such as groups or realm_access.roles.", "groups"),
  GANTRY_OIDC_ADMIN_GROUPS: list(
    "Groups whose members are admins. If set, everyone else is not: the role is applied at each sign-in.",
    groupNames,
  ),
  GANTRY_OIDC_PLAN_GROUPS: planGroups,
  GANTRY_OIDC_ALLOWED_GROUPS: list("Groups whose members may sign in. If unset, everyone at the provider.", groupNames),
  GANTRY_OIDC_ALLOWED_DOMAINS: list(
    "Domains of e-mail addresses that may sign in. The provider must say that the address is verified.",
    "domains separated by commas",
    (one) => one.toLowerCase(),
  ),
  GANTRY_OIDC_CREATE_USERS: flag("Set to 1 to create a user at the first sign-in of a person."),
  GANTRY_OIDC_LINK_USERS: flag(
    "Set to 1 to link an existing user to the person with the same username. Only for providers where people cannot choose " +
      "their username. With the claim email, GANTRY_OIDC_ALLOWED_DOMAINS must name exactly one domain. An admin is linked " +
      "only to a member of GANTRY_OIDC_ADMIN_GROUPS.",
  ),
  GANTRY_OIDC_LOGOUT: flagOn("Set to 0 to stay signed in at the provider when signing out of the console."),
} as const;
