import type { OidcChecks } from "../../../engines/oidc/oidc.ts";
import type { Vault } from "../../../engines/vault/vault.ts";

/** A sign-in that has begun. Its browser keeps it, so that any node can finish it and none has to store it. */
export interface Flow {
  checks: OidcChecks;
  /** The page of the console that was asked for. */
  from: string;
  /** Milliseconds since 1970. */
  until: number;
}

const context = "sign-in at the OpenID provider";
const longest = 4000;

export function sealFlow(vault: Vault, flow: Flow): string {
  return Buffer.from(vault.seal(JSON.stringify(flow), context)).toString("base64url");
}

/** Undefined if this server has not sealed it, or if it has expired. */
export function openFlow(vault: Vault, sealed: string | undefined, now: Date): Flow | undefined {
  if (sealed === undefined || sealed.length > longest) return undefined;
  try {
    const flow = JSON.parse(vault.open(Buffer.from(sealed, "base64url"), context)) as Flow;
    return flow.until > now.getTime() ? flow : undefined;
  } catch {
    return undefined;
  }
}
