import type { Vault } from "../../engines/vault/vault.ts";
import { isRecord } from "../../kernel/is-record.ts";
import type { Reply } from "../predictions/index.ts";

/** Thoughts that a model must get back unchanged, as a client without storage keeps them. */
export interface Thoughts {
  reasoning?: string;
  opaque?: unknown;
}

export interface SealedThoughts {
  /** Undefined if the reply has no thoughts. */
  seal(userId: string, reply: Pick<Reply, "reasoning" | "opaque">): string | undefined;
  /** Undefined if another server, or another user's request, has sealed them. */
  open(userId: string, sealed: string): Thoughts | undefined;
}

export function sealedThoughts(vault: Vault): SealedThoughts {
  const contextOf = (userId: string) => `thoughts of ${userId}`;
  return {
    seal(userId, { reasoning, opaque }) {
      if (reasoning === "" && opaque === undefined) return undefined;
      const thoughts: Thoughts = { ...(reasoning !== "" && { reasoning }), ...(opaque !== undefined && { opaque }) };
      return Buffer.from(vault.seal(JSON.stringify(thoughts), contextOf(userId))).toString("base64");
    },
    open(userId, sealed) {
      try {
        const thoughts: unknown = JSON.parse(vault.open(Buffer.from(sealed, "base64"), contextOf(userId)));
        return isRecord(thoughts) ? thoughts : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
