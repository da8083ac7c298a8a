import { type Fault, fault, type Issue } from "../../../kernel/errors.ts";

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
