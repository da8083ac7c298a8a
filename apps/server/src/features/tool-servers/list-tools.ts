import { type ToolList, ToolServerError } from "../../engines/tools/tools.ts";
import { fault } from "../../kernel/errors.ts";
import type { ToolServersContext } from "./context.ts";
import { findServerOrThrow } from "./find-server.ts";
import { shownTools } from "./shown-tools.ts";
import type { SealedToolServer } from "./tool-server.ts";
import { useServer, withoutWords } from "./use-server.ts";

/**
 * For the owner, who wants to know how the server is now: it is asked. One that does not answer is the fault of a service
 * behind.
 */
export async function listTools(
  context: ToolServersContext,
  ownerId: string,
  id: string,
  signal?: AbortSignal,
): Promise<ToolList> {
  const server = await findServerOrThrow(context, ownerId, id);
  try {
    return await toolsOf(context, server, { signal, fresh: true });
  } catch (error) {
    if (!(error instanceof ToolServerError)) throw error;
    const { reason, status } = error;
    throw fault("downstream_service_error", `${server.name}: ${error.message}`, {
      loc: ["path", "mcp_server_id"],
      cause: withoutWords(error),
      // The server may quote what was sent.
      logged: "A tool server could not be used",
      retryable: reason !== "unauthorized",
      ctx: { reason, ...(status !== undefined && { status }) },
    });
  }
}

export async function toolsOf(
  context: ToolServersContext,
  server: SealedToolServer,
  { signal, fresh = false }: { signal?: AbortSignal | undefined; fresh?: boolean } = {},
): Promise<ToolList> {
  const list = await useServer(context, server, async (target, hiding) =>
    shownTools(await context.clients.listTools(target, { fresh, ...(signal && { signal }) }), target, hiding),
  );
  context.known.note(server, list);
  return list;
}
