import type { SignInProblem } from "@gantry/wire";
import { OidcError, type OidcIdentity } from "../../../engines/oidc/oidc.ts";
import { fault } from "../../../kernel/errors.ts";
import { record } from "../../audit/index.ts";
import type { AccountsContext } from "../context.ts";
import { openOwnSession } from "../own-session.ts";
import type { Client } from "../sign-in-options.ts";
import { requireWay } from "../sign-in-ways.ts";
import { announceChange } from "../store.ts";
import { readUser } from "../users.ts";
import { openFlow, sealFlow } from "./flow.ts";
import { groupsOf, isAllowed, neededClaims } from "./oidc.rules.ts";
import { deleteIdentities } from "./oidc-store.ts";
import { userOfIdentity } from "./user-of-identity.ts";

const callbackPath = "/console/api/oidc/callback";
const flowMs = 10 * 60_000;
/** The sealed flow must fit into a cookie. The page that connects an app has the whole request in its address. */
const longestFrom = 2400;

type Outcome<T> = ({ problem: SignInProblem } | ({ problem?: undefined } & T)) & {
  /** The page of the console that was asked for. */
  from: string;
};

function settings(context: AccountsContext) {
  requireWay(context, "oidc");
  const { oidc, vault } = context.signIn;
  if (!oidc || !vault) throw new Error("OpenID Connect is enabled without its settings");
  return { ...oidc, vault };
}

/** Returns where the browser goes, and what it keeps meanwhile. */
export async function beginOidcSignIn(
  context: AccountsContext,
  { base, from }: { base: string; from: string },
): Promise<Outcome<{ url: string; flow: string; lifeMs: number }>> {
  const { engine, vault } = settings(context);
  const back = from.length > longestFrom ? "/" : from;
  try {
    const { url, checks } = await engine.begin(`${base}${callbackPath}`);
    const flow = sealFlow(vault, { checks, from: back, until: context.clock.now().getTime() + flowMs });
    return { url, flow, lifeMs: flowMs, from: back };
  } catch (error) {
    return { problem: problemOf(context, error), from: back };
  }
}

/** `sealed`: what the browser has kept. `query`: of the address that the provider sent it to. */
export async function finishOidcSignIn(
  context: AccountsContext,
  { sealed, query }: { sealed: string | undefined; query: URLSearchParams },
  client: Client,
): Promise<Outcome<{ session: string; idToken: string }>> {
  const { engine, rules, vault } = settings(context);
  const flow = openFlow(vault, sealed, context.clock.now());
  if (!flow) return { problem: "expired", from: "/" };
  const { from, checks } = flow;
  try {
    const identity = await engine.finish(query, checks, neededClaims(rules));
    const opened = await openSessionOf(context, identity, client);
    return "problem" in opened ? { ...opened, from } : { ...opened, idToken: identity.idToken, from };
  } catch (error) {
    return { problem: problemOf(context, error), from };
  }
}

async function openSessionOf(
  context: AccountsContext,
  identity: OidcIdentity,
  client: Client,
): Promise<{ problem: SignInProblem } | { session: string }> {
  const { database, clock, log, forgetUser } = context;
  const { rules } = settings(context);
  const groups = groupsOf(identity.claims, rules);
  if (!isAllowed(identity.claims, groups, rules)) {
    log.info(
      { subject: identity.subject },
      "Refused a person of the OpenID provider: not in an allowed group or domain",
    );
    return { problem: "not_allowed" };
  }
  const now = clock.now();
  const opened = await database.transaction(async (tx) => {
    const found = await userOfIdentity(tx, { identity, groups, rules, now, log });
    if ("problem" in found) return found;
    if (found.hasChanged) await announceChange(tx, found.userId);
    const session = await openOwnSession(tx, { ...found, way: "oidc", client }, now, found.done);
    return { ...found, session };
  });
  if ("problem" in opened) {
    log.info({ subject: identity.subject, problem: opened.problem }, "Refused a person of the OpenID provider");
    return opened;
  }
  if (opened.hasChanged) forgetUser(opened.userId);
  return { session: opened.session };
}

/** Undefined if the person only signs out here. A provider that is down does not keep anyone signed in. */
export async function oidcSignOutUrl(
  context: AccountsContext,
  { base, idToken }: { base: string; idToken: string | undefined },
): Promise<string | undefined> {
  const { oidc, ways } = context.signIn;
  if (!oidc?.rules.signsOut || !ways.has("oidc")) return undefined;
  try {
    return await oidc.engine.signOutUrl(`${base}/console/sign-in`, idToken);
  } catch (error) {
    problemOf(context, error);
    return undefined;
  }
}

/** The page shows its own text for each problem: texts of a provider do not belong on the sign-in page. */
function problemOf({ log }: AccountsContext, error: unknown): SignInProblem {
  if (!(error instanceof OidcError)) throw error;
  const text = "Signing in with the OpenID provider failed";
  if (error.reason === "refused") log.info({ reason: error.message }, text);
  else log.warn({ reason: error.message, err: error.cause }, text);
  return error.reason;
}

/** For admins. The person can sign in as this user again only if the settings allow to link users. */
export async function unlinkIdentities(context: AccountsContext, username: string): Promise<void> {
  const { id } = await readUser(context, username);
  await context.database.transaction(async (tx) => {
    if ((await deleteIdentities(tx, id)) === 0) {
      throw fault("not_found", "The user is not linked to an OpenID provider");
    }
    await record(tx, { action: "user.unlink", object: { id, name: username }, ownerId: id });
  });
}
