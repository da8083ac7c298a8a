import { newId } from "@gantry/wire";
import { ToolServerError } from "../../engines/tools/tools.ts";
import { fault } from "../../kernel/errors.ts";
import type { ToolServersContext } from "./context.ts";
import type { Callable } from "./credential.ts";
import { shownTools } from "./shown-tools.ts";
import type { Met } from "./tool-server.ts";
import { callServer, connected, metWith } from "./use-server.ts";

/** Somebody waits for the answer to their request meanwhile. */
const patienceMs = 20_000;

/**
 * Connects and lists the tools, as agents will. A server that cannot be used now is registered nevertheless; one at a
 * private address is not.
 */
export async function tryServer(context: ToolServersContext, server: Callable): Promise<Met> {
  // Not the server's own connection: nothing is decided yet, and another change may be trying other credentials.
  const id = newId("request");
  const signal = AbortSignal.timeout(patienceMs);
  try {
    const list = await callServer(context, server, async (target, hiding) =>
      shownTools(await context.clients.listTools({ ...target, id }, { signal }), target, hiding),
    );
    context.known.note(server, list);
    return connected;
  } catch (error) {
    if (signal.aborted) return { status: "unreachable", lastError: "The server did not answer in time" };
    if (!(error instanceof ToolServerError)) throw error;
    if (error.reason === "address_refused") throw fault("value_error", error.message, { loc: ["body", "url"] });
    return metWith(error);
  } finally {
    context.clients.forget(id);
  }
}
