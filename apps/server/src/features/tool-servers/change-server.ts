import type { ChangeToolServerBody } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import type { ToolServersContext } from "./context.ts";
import { sealAuth } from "./credential.ts";
import { findServerOrThrow } from "./find-server.ts";
import { keepsOrigin } from "./keeps-origin.rules.ts";
import { nameTaken } from "./register-server.ts";
import { isNameTaken, updateToolServer } from "./store.ts";
import type { SealedToolServer, ToolServer } from "./tool-server.ts";
import { tryServer } from "./try-server.ts";

const mostAttempts = 3;

/** Changes the given fields and connects anew with them. */
export async function changeServer(
  context: ToolServersContext,
  ownerId: string,
  id: string,
  change: ChangeToolServerBody,
): Promise<ToolServer> {
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const former = await findServerOrThrow(context, ownerId, id);
    const name = change.name ?? former.name;
    if (await isNameTaken(context.database.sql, ownerId, name, id)) throw nameTaken(name);
    const url = change.url ?? former.url;
    const connectionType = change.connection_type ?? former.connectionType;
    const values = { id, ownerId, name, url, connectionType, ...changedAuth(context, former, url, change.auth) };
    const met = await tryServer(context, { ...values, revision: former.revision + 1 });
    const changed = await updateToolServer(context.database.sql, { ...values, ...met }, former.revision);
    // Undefined: another change came first, and this one applies to what that one left.
    if (!changed) continue;
    context.clients.forget(id);
    context.log.info({ user_id: ownerId, server_id: id, status: met.status }, "tool server changed");
    return changed;
  }
  throw fault("conflict", "The tool server is being changed by another request; repeat this one");
}

function changedAuth(
  context: ToolServersContext,
  former: SealedToolServer,
  url: string,
  auth: ChangeToolServerBody["auth"],
): Pick<SealedToolServer, "authType" | "authHeader" | "sealedCredential"> {
  if (auth !== undefined || former.authType === null) {
    return sealAuth(context, { id: former.id, ownerId: former.ownerId, url }, auth);
  }
  // Otherwise whoever may change the address could have the credential sent to a server of their own.
  if (!keepsOrigin(former.url, url)) {
    const msg = "The address is on another host or port, or no longer https: give auth again, or null to send none";
    throw fault("missing", msg, { loc: ["body", "auth"] });
  }
  return { authType: former.authType, authHeader: former.authHeader, sealedCredential: former.sealedCredential };
}
