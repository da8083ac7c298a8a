import type { OAuthClient, OAuthServer, OAuthTokens } from "../../../engines/tools/oauth/oauth.ts";
import type { Vault } from "../../../engines/vault/vault.ts";

/** The endpoints and the client that a link and its tokens belong to. */
export interface Registration {
  server: OAuthServer;
  client: OAuthClient;
  scope?: string | undefined;
}

/** A link that was not used yet. */
export interface Flow extends Registration {
  state: string;
  verifier: string;
  /** The revision of the tool server. */
  revision: number;
}

/** Complete, so that a refresh does not depend on documents that may change. */
export interface Grant extends Registration {
  /** The tokens are sent to this address of a tool server only. */
  url: string;
  tokens: OAuthTokens;
}

/** The contexts are listed in `engines/vault/sealed-columns.ts`. */
const contexts = {
  secret: (serverId: string) => `tool-server-secret:${serverId}`,
  client: (serverId: string, redirectUri: string) => `tool-server-client:${serverId}:${redirectUri}`,
  flow: (userId: string, serverId: string) => `tool-server-flow:${userId}:${serverId}`,
  grant: (userId: string, serverId: string) => `tool-server-tokens:${userId}:${serverId}`,
};

interface Sealing<T, Names extends string[]> {
  seal(vault: Vault, value: T, ...names: Names): Uint8Array;
  /** Undefined if the key of the vault does not open it. */
  open(vault: Vault, sealed: Uint8Array, ...names: Names): T | undefined;
}

function sealing<T, Names extends string[]>(context: (...names: Names) => string): Sealing<T, Names> {
  return {
    seal: (vault, value, ...names) => vault.seal(JSON.stringify(value), context(...names)),
    open(vault, sealed, ...names) {
      try {
        return JSON.parse(vault.open(sealed, context(...names))) as T;
      } catch {
        return undefined;
      }
    },
  };
}

export const sealedSecret = sealing<string, [serverId: string]>(contexts.secret);
export const sealedClient = sealing<Registration, [serverId: string, redirectUri: string]>(contexts.client);
export const sealedFlow = sealing<Flow, [userId: string, serverId: string]>(contexts.flow);
export const sealedGrant = sealing<Grant, [userId: string, serverId: string]>(contexts.grant);
