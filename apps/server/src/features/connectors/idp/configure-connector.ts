import { AddressRefused, NetError } from "../../../engines/net/net.ts";
import { Fault, fault, type Issue, throwIfAny } from "../../../kernel/errors.ts";
import { callTenant, type IdpContext, isOutage, Patience, type Tenant, TenantRefusal } from "./call-tenant.ts";
import { isObject } from "./mask.rules.ts";
import { type Connector, sealContext, upsertConnector } from "./stored-connector.ts";
import { claimWarnings, readClaims, uncheckedWarning } from "./token-claims.rules.ts";

/** Small, and there in every tenant. */
const checkPath = "/tenants/settings?fields=friendly_name&include_fields=true";

/** Checks domain and token with one read and stores them. When the check fails, what was stored before stays. */
export async function configureConnector(
  context: IdpContext,
  userId: string,
  given: { domain: string; token: string },
): Promise<Connector> {
  const tenant = readTenant(userId, given);
  const checked = await checkToken(context, tenant);
  const row = {
    domain: tenant.domain,
    tokenLast4: tenant.token.slice(-4),
    ...readClaims(tenant.token),
  };
  const sealedToken = context.vault.seal(tenant.token, sealContext(userId, tenant.domain));
  await upsertConnector(context.database.sql, userId, { ...row, sealedToken });
  context.log.info({ user_id: userId, tenant: tenant.domain }, "identity connector stored");
  // The tenant may refuse the read for what the token does not say of itself.
  const warnings = new Set([...checked, ...claimWarnings(row, context.clock.now())]);
  return { ...row, warnings: [...warnings] };
}

function readTenant(userId: string, given: { domain: string; token: string }): Tenant {
  throwIfAny([...domainIssues(given.domain), ...tokenIssues(given.token)]);
  return { userId, domain: normaliseDomain(given.domain), token: given.token };
}

/** It travels in a header. Of a shorter one the last four characters would be too much to show. */
function tokenIssues(token: string): Issue[] {
  if (/^[\x21-\x7e]{8,8192}$/.test(token)) return [];
  const msg = 'The token must have 8 to 8192 printable characters and no spaces (and no "Bearer" before it)';
  return [{ type: "value_error", loc: ["body", "token"], msg }];
}

/** What to tell beside success; throws where the pair cannot be right, or nobody could tell. */
async function checkToken(context: IdpContext, tenant: Tenant): Promise<string[]> {
  const end = context.gate.beginCheck(tenant.userId);
  try {
    const { body } = await callTenant(
      context,
      tenant,
      { method: "GET", path: checkPath },
      {
        patience: new Patience(context.limits.waitMs),
      },
    );
    if (isObject(body)) return [];
    throw wrongDomain(`${tenant.domain} does not answer as a management API does`);
  } catch (error) {
    if (error instanceof TenantRefusal) return judgeRefusal(error, tenant);
    if (error instanceof AddressRefused) throw wrongDomain(error.message);
    if (error instanceof NetError) {
      throw fault(
        "downstream_service_error",
        `${tenant.domain}: ${error.message}. Check the domain, or repeat later.`,
        {
          cause: error,
          retryable: true,
          ctx: { status: null, reason: error.reason, what_to_do: "Check the domain, or repeat later." },
        },
      );
    }
    throw error instanceof Fault ? error : new Error("the check of a management token failed", { cause: error });
  } finally {
    end();
  }
}

function judgeRefusal({ status }: TenantRefusal, tenant: Tenant): string[] {
  if (status === 401) {
    throw fault("value_error", `${tenant.domain} refuses the token: it is wrong, expired or of another tenant`, {
      loc: ["body", "token"],
    });
  }
  // The tenant knows the token; it may still be good for other things than this read.
  if (status === 403) return [uncheckedWarning];
  if (!isOutage(status)) throw wrongDomain(`${tenant.domain} does not answer as a management API does (${status})`);
  throw fault(
    "downstream_service_error",
    `${tenant.domain} failed (${status}), so the token could not be checked. Repeat later.`,
    {
      retryable: true,
      ctx: { status, what_to_do: "Repeat later: nothing was stored." },
    },
  );
}

const longestDomain = 260;
const loc = ["body", "domain"];

/** An underscore is none of a host name's, but stands in many a local one. */
const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

function withoutScheme(given: string): string {
  return given
    .trim()
    .replace(/^https:\/\//i, "")
    .replace(/\/$/, "");
}

/** Why this is not the host name of a tenant, with an optional port. */
export function domainIssues(given: string): Issue[] {
  const bare = withoutScheme(given);
  const wrong = (msg: string): Issue[] => [{ type: "value_error", loc, msg }];
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(bare)) return wrong("Only https is possible: give the host name alone");
  if (bare === "" || bare.length > longestDomain || /[\s/\\?#@%\p{Cc}]/u.test(bare)) {
    return wrong("The domain must be a host name with an optional port, without path, query or user name");
  }
  const url = URL.parse(`https://${bare}`);
  if (!url || !isHostName(url.hostname) || url.port === "0") {
    return wrong("The domain must be a host name with an optional port");
  }
  return [];
}

/** As `URL` gives it: in small letters and ASCII. What it takes for one may still be `*` or `a..b`. */
function isHostName(hostname: string): boolean {
  const isAddress = hostname.startsWith("[");
  const parts = hostname.replace(/\.$/, "").split(".");
  return isAddress || parts.every((part) => label.test(part));
}

/** `https://Tenant.example.com/` → `tenant.example.com`; a port stays. For a domain without issues. */
export function normaliseDomain(given: string): string {
  return new URL(`https://${withoutScheme(given)}`).host;
}

export function wrongDomain(message: string): Fault {
  return fault("value_error", message, { loc });
}
