import type { ConnectionType, ToolServerStatus } from "@gantry/wire";

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
