import { setImmediate } from "node:timers/promises";
import { type ToolList, ToolServerError, type ToolServerTarget } from "../../engines/tools/tools.ts";
import { fault } from "../../kernel/errors.ts";
import type { ToolServersContext } from "./context.ts";
import { type Hiding, hideInTools } from "./hide.rules.ts";
import type { SealedToolServer } from "./tool-server.ts";
import { findServerOrThrow, useServer, withoutServerText } from "./use-server.ts";

/** Lists the tools as the server reports them now. A server that does not answer is a downstream error. */
export async function listTools(
  context: ToolServersContext,
  ownerId: string,
  id: string,
  signal?: AbortSignal,
): Promise<ToolList> {
  const server = await findServerOrThrow(context, ownerId, id);
  try {
    return await toolsOf(context, server, { userId: ownerId, signal, fresh: true });
  } catch (error) {
    if (!(error instanceof ToolServerError)) throw error;
    const { reason, status } = error;
    throw fault("downstream_service_error", `${server.name}: ${error.message}`, {
      loc: ["path", "mcp_server_id"],
      cause: withoutServerText(error),
      logged: "tool server failed",
      retryable: reason !== "unauthorized" && reason !== "authorization_required",
      ctx: { reason, ...(status !== undefined && { status }) },
    });
  }
}

export async function toolsOf(
  context: ToolServersContext,
  server: SealedToolServer,
  { userId, signal, fresh = false }: { userId: string; signal?: AbortSignal | undefined; fresh?: boolean },
): Promise<ToolList> {
  const list = await useServer(context, server, userId, async (target, hiding) =>
    shownTools(await context.clients.listTools(target, { fresh, ...(signal && { signal }) }), target, hiding),
  );
  // Hints for the owner: with OAuth, other users may have other tools.
  if (userId === server.ownerId || server.authType !== "oauth") context.known.note(server, list);
  return list;
}

type SignedIn = Pick<ToolServerTarget, "header">;

/** Yields to the event loop after this time. */
const sliceMs = 10;

const shown = new WeakMap<ToolList, { credential: string | undefined; list: Promise<ToolList> }>();

/**
 * Masks the credential in a list of tools. The engine returns the same list for some seconds, and masking megabytes takes a
 * while, so each list is masked once and in slices.
 */
export function shownTools(list: ToolList, target: SignedIn, hiding: Hiding): Promise<ToolList> {
  const credential = target.header?.value;
  const known = shown.get(list);
  if (known && known.credential === credential) return known.list;
  const hidden = hideInSlices(list, target, hiding);
  shown.set(list, { credential, list: hidden });
  return hidden;
}

async function hideInSlices(list: ToolList, target: SignedIn, hiding: Hiding): Promise<ToolList> {
  const hidden = hideInTools({ ...list, tools: [] }, target, hiding);
  let since = performance.now();
  for (const tool of list.tools) {
    const { tools, unusable } = hideInTools({ tools: [tool], unusable: [], isCut: list.isCut }, target, hiding);
    hidden.tools.push(...tools);
    hidden.unusable.push(...unusable);
    if (performance.now() - since < sliceMs) continue;
    await setImmediate();
    since = performance.now();
  }
  return hidden;
}
