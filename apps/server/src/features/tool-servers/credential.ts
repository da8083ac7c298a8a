import type { ToolServerAuth } from "@gantry/wire";
import { ToolServerError, type ToolServerTarget } from "../../engines/tools/tools.ts";
import type { ToolServersContext } from "./context.ts";
import { type Hiding, hiding, nothingHidden } from "./hide.rules.ts";
import type { SealedToolServer } from "./tool-server.ts";

type Place = Pick<SealedToolServer, "id" | "ownerId" | "url">;
type SealedAuth = Pick<SealedToolServer, "authType" | "authHeader" | "sealedCredential">;

/**
 * The host is part of it: a credential given for one host is never sent to another. That it is not sent to another port
 * either is seen to when the address is changed.
 */
const sealContext = ({ ownerId, id, url }: Place) => `tool-server:${ownerId}:${id}:${new URL(url).hostname}`;

export function sealAuth(
  { vault }: ToolServersContext,
  place: Place,
  auth: ToolServerAuth | null | undefined,
): SealedAuth {
  if (!auth) return { authType: null, authHeader: null, sealedCredential: null };
  const credential = auth.type === "bearer" ? auth.token : auth.value;
  return {
    authType: auth.type,
    authHeader: auth.type === "api_key" ? auth.header : null,
    sealedCredential: vault.seal(credential, sealContext(place)),
  };
}

/** What of a server is needed to call it. */
export type Callable = Omit<SealedToolServer, "authType" | "status" | "lastError" | "createdAt" | "updatedAt">;

export interface Opened {
  target: ToolServerTarget;
  /** For texts that the server had a hand in: a server may repeat what it was sent. */
  hiding: Hiding;
}

/** The server as it is called. */
export function openServer({ vault }: ToolServersContext, server: Callable): Opened {
  const { id, revision, url, connectionType, sealedCredential, authHeader } = server;
  const bare = { id, revision, url, connectionType };
  if (!sealedCredential) return { target: bare, hiding: nothingHidden };
  const credential = unseal(() => vault.open(sealedCredential, sealContext(server)));
  const header =
    authHeader === null
      ? { name: "authorization", value: `Bearer ${credential}` }
      : { name: authHeader, value: credential };
  return { target: { ...bare, header }, hiding: hiding(credential) };
}

function unseal(open: () => string): string {
  try {
    return open();
  } catch {
    throw new ToolServerError("unauthorized", "The stored credentials can no longer be opened: give them again");
  }
}
