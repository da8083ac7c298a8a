import type { Transaction } from "../../../engines/database/database.ts";
import { AddressRefused, NetError } from "../../../engines/net/net.ts";
import { Fault, fault, type Issue, throwIfAny } from "../../../kernel/errors.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import { record } from "../../audit/index.ts";
import { callTenant, type IdpContext, isOutage, type Tenant, TenantRefusal, WaitBudget } from "./call-tenant.ts";
import {
  type Connector,
  type ConnectorRow,
  sealContext,
  selectConnector,
  upsertConnector,
} from "./stored-connector.ts";
import { claimWarnings, readClaims, uncheckedWarning } from "./token-claims.rules.ts";

/** Small, and available in every tenant. */
const checkPath = "/tenants/settings?fields=friendly_name&include_fields=true";

/** Checks domain and token with one read, then stores them. After a failed check the old connector stays. */
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
  await context.database.transaction(async (tx) => {
    const before = await selectConnector(tx, userId);
    await upsertConnector(tx, userId, { ...row, sealedToken });
    await recordConnector(tx, "connector.put", userId, { before, after: row });
  });
  context.log.info({ user_id: userId, tenant: tenant.domain }, "Stored the identity connector");
  // The check may find more than the token's claims reveal.
  const warnings = new Set([...checked, ...claimWarnings(row, context.clock.now())]);
  return { ...row, warnings: [...warnings] };
}

export function recordConnector(
  tx: Transaction,
  action: "connector.put" | "connector.delete",
  userId: string,
  { before, after }: { before?: ConnectorRow | undefined; after?: ConnectorRow },
): Promise<void> {
  const { domain = "" } = after ?? before ?? {};
  return record(tx, {
    action,
    object: { id: "idp", name: domain },
    ownerId: userId,
    before: before && fieldsOf(before),
    after: after && fieldsOf(after),
  });
}

function fieldsOf({ domain, scopes, expiresAt }: ConnectorRow) {
  return { domain, scopes, expires_at: expiresAt };
}

function readTenant(userId: string, given: { domain: string; token: string }): Tenant {
  throwIfAny([...domainIssues(given.domain), ...tokenIssues(given.token)]);
  return { userId, domain: normaliseDomain(given.domain), token: given.token };
}

/** The token is sent in a header. Of a shorter one the last four characters would reveal too much. */
function tokenIssues(token: string): Issue[] {
  if (/^[\x21-\x7e]{8,8192}$/.test(token)) return [];
  const msg = 'The token must have 8 to 8192 printable characters without spaces and without "Bearer"';
  return [{ type: "value_error", loc: ["body", "token"], msg }];
}

/** Returns warnings. Throws if the domain or token is wrong, or could not be checked. */
async function checkToken(context: IdpContext, tenant: Tenant): Promise<string[]> {
  const end = context.gate.beginCheck(tenant.userId);
  try {
    const { body } = await callTenant(
      context,
      tenant,
      { method: "GET", path: checkPath },
      {
        budget: new WaitBudget(context.limits.waitMs),
      },
    );
    if (isRecord(body)) return [];
    throw wrongDomain(`${tenant.domain} does not answer like a management API`);
  } catch (error) {
    if (error instanceof TenantRefusal) return judgeRefusal(error, tenant);
    if (error instanceof AddressRefused) throw wrongDomain(error.message);
    if (error instanceof NetError) {
      throw fault(
        "downstream_service_error",
        `${tenant.domain}: ${error.message}. Check the domain, or try again later.`,
        {
          cause: error,
          retryable: true,
          ctx: { status: null, reason: error.reason, what_to_do: "Check the domain, or try again later." },
        },
      );
    }
    throw error instanceof Fault ? error : new Error("failed to check a management token", { cause: error });
  } finally {
    end();
  }
}

function judgeRefusal({ status }: TenantRefusal, tenant: Tenant): string[] {
  if (status === 401) {
    throw fault(
      "value_error",
      `${tenant.domain} refuses the token: it is wrong, expired, or belongs to another tenant`,
      {
        loc: ["body", "token"],
      },
    );
  }
  // The token is valid but lacks the scope of this read.
  if (status === 403) return [uncheckedWarning];
  if (!isOutage(status)) throw wrongDomain(`${tenant.domain} does not answer like a management API (${status})`);
  throw fault(
    "downstream_service_error",
    `${tenant.domain} failed (${status}), so the token could not be checked. Try again later.`,
    {
      retryable: true,
      ctx: { status, what_to_do: "Nothing was stored. Try again later." },
    },
  );
}

const longestDomain = 260;
const loc = ["body", "domain"];

/** Underscores are not standard but common in local names. */
const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

function withoutScheme(given: string): string {
  return given
    .trim()
    .replace(/^https:\/\//i, "")
    .replace(/\/$/, "");
}

export function domainIssues(given: string): Issue[] {
  const bare = withoutScheme(given);
  const wrong = (msg: string): Issue[] => [{ type: "value_error", loc, msg }];
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(bare))
    return wrong("Only https is supported. Give the host name without a scheme.");
  if (bare === "" || bare.length > longestDomain || /[\s/\\?#@%\p{Cc}]/u.test(bare)) {
    return wrong("The domain must be a host name with an optional port, without path, query or user name");
  }
  const url = URL.parse(`https://${bare}`);
  if (!url || !isHostName(url.hostname) || url.port === "0") {
    return wrong("The domain must be a host name with an optional port");
  }
  return [];
}

/** `URL` accepts `*` and `a..b` too. */
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
