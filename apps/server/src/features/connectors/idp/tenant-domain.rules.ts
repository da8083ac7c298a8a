import { type Fault, fault } from "../../../kernel/errors.ts";

const longestDomain = 260;

/** `https://Tenant.example.com/` → `tenant.example.com`; a port stays. Throws what is no such thing. */
export function normaliseDomain(given: string): string {
  const bare = given
    .trim()
    .replace(/^https:\/\//i, "")
    .replace(/\/$/, "");
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(bare)) throw wrongDomain("Only https is possible: give the host name alone");
  if (bare === "" || bare.length > longestDomain || /[\s/\\?#@%\p{Cc}]/u.test(bare)) {
    throw wrongDomain("The domain must be a host name with an optional port, without path, query or user name");
  }
  const url = URL.parse(`https://${bare}`);
  if (!url || url.hostname === "" || url.port === "0") {
    throw wrongDomain("The domain must be a host name with an optional port");
  }
  return url.host;
}

export function wrongDomain(message: string): Fault {
  return fault("value_error", message, { loc: ["body", "domain"] });
}
