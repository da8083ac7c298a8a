import type { ConnectionType, ToolServerStatus } from "@gantry/wire";
import type { ToolList } from "../../engines/tools/tools.ts";

/**
 * A registered tool server. The status is the result of the last attempt to use the server:
 *
 *   (create, change, list, call) ──► connected | unauthorized | unreachable | authorization_required
 *
 * With OAuth each user has an authorization of their own, and the status is that of the owner.
 */
export interface ToolServer {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  readonly url: string;
  readonly connectionType: ConnectionType;
  readonly authType: "bearer" | "api_key" | "oauth" | null;
  readonly authHeader: string | null;
  /** What the owner gave for OAuth, without the secret. */
  readonly oauth: { clientId: string | null; scope: string | null } | null;
  readonly status: ToolServerStatus;
  readonly lastError: string | null;
  /** Number of changes. */
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface SealedToolServer extends ToolServer {
  readonly sealedCredential: Uint8Array | null;
}

/** The result of an attempt to use a server. */
export interface ConnectionResult {
  status: ToolServerStatus;
  lastError: string | null;
}

type ServerRevision = Pick<ToolServer, "id" | "revision">;

const mostServers = 500;

/**
 * Tool names of servers as this process last listed them, for hints that do not justify a request. The oldest entry is
 * dropped first. Truncated lists are not kept: they cannot show that a tool is missing.
 */
export class KnownTools {
  readonly #names = new Map<string, { revision: number; names: ReadonlySet<string> }>();

  note({ id, revision }: ServerRevision, { tools, unusable, isCut }: ToolList): void {
    this.#names.delete(id);
    if (isCut) return;
    this.#names.set(id, { revision, names: new Set([...tools, ...unusable].map(({ name }) => name)) });
    for (const oldest of this.#names.keys()) {
      if (this.#names.size <= mostServers) break;
      this.#names.delete(oldest);
    }
  }

  /** Undefined if this revision of the server was not listed yet. */
  of({ id, revision }: ServerRevision): ReadonlySet<string> | undefined {
    const known = this.#names.get(id);
    return known?.revision === revision ? known.names : undefined;
  }
}
