import type { SignInWay } from "@gantry/wire";
import type { OidcEngine } from "../../engines/oidc/oidc.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import type { OidcRules } from "./oidc/oidc.rules.ts";

/** How people sign in to this installation. */
export interface SignInOptions {
  ways: ReadonlySet<SignInWay>;
  /** The sign-in page shows the form for passwords only once a user has a password. */
  hidesUnusedPasswords: boolean;
  /** Characters of a new password. */
  minPasswordLength: number;
  /** Seals marks of known devices and the state of sign-ins at the provider. Without it, both are left out. */
  vault?: Vault | undefined;
  oidc?: { engine: OidcEngine; rules: OidcRules } | undefined;
}

export const usualSignIn: SignInOptions = {
  ways: new Set<SignInWay>(["link", "key", "password"]),
  hidesUnusedPasswords: true,
  minPasswordLength: 10,
};

/** Where a sign-in comes from, as sessions show it. */
export interface Client {
  address: string | null;
  /** Several people share the address, such as all clients of a proxy that is not trusted. */
  isShared: boolean;
  userAgent: string | null;
}

export const unknownClient: Client = { address: null, isShared: true, userAgent: null };
