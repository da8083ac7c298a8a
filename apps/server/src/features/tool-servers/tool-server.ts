import type { ConnectionType, ToolServerStatus } from "@gantry/wire";
import type { ToolList } from "../../engines/tools/tools.ts";

/**
 * A registered tool server. Its status is what the last attempt to use it met:
 *
 *   (create, change, list, call) ──► connected | unauthorized | unreachable
 */
export interface ToolServer {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  readonly url: string;
  readonly connectionType: ConnectionType;
  readonly authType: "bearer" | "api_key" | null;
  readonly authHeader: string | null;
  readonly status: ToolServerStatus;
  readonly lastError: string | null;
  /** Counts the changes. */
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Beside the server, what it is signed in to with. */
export interface SealedToolServer extends ToolServer {
  readonly sealedCredential: Uint8Array | null;
}

/** What an attempt to use a server met. */
export interface Met {
  status: ToolServerStatus;
  lastError: string | null;
}

type Asked = Pick<ToolServer, "id" | "revision">;

const mostServers = 500;

/**
 * The names of the tools that servers had when this process last asked them, for hints that are not worth asking again.
 * The one that was asked longest ago is forgotten first. Of a server with more tools than are read it is not known what it
 * has not.
 */
export class KnownTools {
  readonly #names = new Map<string, { revision: number; names: ReadonlySet<string> }>();

  note({ id, revision }: Asked, { tools, unusable, isCut }: ToolList): void {
    this.#names.delete(id);
    if (isCut) return;
    this.#names.set(id, { revision, names: new Set([...tools, ...unusable].map(({ name }) => name)) });
    for (const oldest of this.#names.keys()) {
      if (this.#names.size <= mostServers) break;
      this.#names.delete(oldest);
    }
  }

  /** Undefined: it was not asked as it is now. */
  of({ id, revision }: Asked): ReadonlySet<string> | undefined {
    const known = this.#names.get(id);
    return known?.revision === revision ? known.names : undefined;
  }
}
