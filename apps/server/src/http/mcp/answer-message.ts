import type { CallToolResult, JsonSchemaValidator, Server, ServerContext } from "@modelcontextprotocol/server";
import type { Caller } from "../../features/accounts/index.ts";
import type { McpTools, ToolAnswer } from "../../features/mcp-tools/index.ts";
import type { RequestOrigin } from "../../features/predictions/index.ts";
import type { Log } from "../../kernel/log.ts";
import { toFault } from "../foundation/to-fault.ts";
import { reportProgress } from "./report-progress.ts";

type Library = typeof import("@modelcontextprotocol/server");

export interface McpServerDeps {
  tools: McpTools;
  log: Log;
  version: string;
}

export interface Exchange {
  caller: Caller;
  /** For the log. */
  requestId: string;
  origin: RequestOrigin;
  /** The parsed JSON-RPC message, or a list of them. */
  message: unknown;
  /** Only headers of the protocol, without the key. */
  headers: Record<string, string>;
  /** The client's session id, if any. */
  session: string | undefined;
  baseUrl: string;
  /** Aborted when the client leaves. */
  signal: AbortSignal;
}

const instructions =
  "Tools named model_… run models, tools named agent_… run agents, tools named idp_… read from the identity tenant. A result that is a file is an s3:// address, which any model's file field takes.";

/**
 * Answers one HTTP request with a server of its own, because the next request may go to another node. The answer is a
 * stream, so that long runs keep their connection and report progress.
 */
export function answerMessage(library: Library, deps: McpServerDeps, exchange: Exchange): Promise<Response> {
  const { fetch } = library.createMcpHandler(() => serverFor(library, deps, exchange), {
    responseMode: "sse",
    // Clients are not notified of changed lists, so there is nothing to subscribe to.
    maxSubscriptions: 0,
    onerror: (error) => deps.log.debug({ err: error }, "A message of an MCP client was refused"),
  });
  const { headers, signal, message } = exchange;
  // The library ignores the address.
  const request = new Request("http://localhost/mcp", { method: "POST", headers, signal });
  return fetch(request, { parsedBody: message });
}

function serverFor(library: Library, { tools, log, version }: McpServerDeps, exchange: Exchange): Server {
  const { caller, baseUrl, session } = exchange;
  const { ProtocolError, ProtocolErrorCode } = library;
  const server = new library.Server(
    { name: "gantry", title: "Gantry", version },
    {
      capabilities: { tools: {} },
      instructions,
      // Only needed for elicitation, which is not used. Creating the library's own takes longer than everything else.
      jsonSchemaValidator: { getValidator: notUsed },
    },
  );

  server.setRequestHandler("tools/list", async ({ params }) => {
    try {
      return { ...(await tools.listTools(caller, params?.cursor)) };
    } catch (error) {
      const { status, message, cause } = toFault(error);
      if (status < 500) throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
      log.error({ request_id: exchange.requestId, err: cause ?? error }, message);
      throw new ProtocolError(ProtocolErrorCode.InternalError, message);
    }
  });

  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const answer = await call(params.name, params.arguments ?? {}, context);
    if (!answer) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name.slice(0, 100)}`);
    return resultOf(answer);
  });

  async function call(name: string, given: Record<string, unknown>, context: ServerContext) {
    const { id: requestId, signal } = context.mcpReq;
    const open = session === undefined ? undefined : tools.calls.open({ keyId: caller.keyId, session, requestId });
    const progress = reportProgress(context);
    try {
      return await tools.callTool({
        caller,
        requestId: exchange.requestId,
        origin: exchange.origin,
        name,
        arguments: given,
        baseUrl,
        signal: open ? AbortSignal.any([signal, open.signal]) : signal,
        onText: progress.text,
        onNote: progress.note,
      });
    } finally {
      progress.stop();
      open?.close();
    }
  }
  return server;
}

function resultOf({ content, structured, isError, meta }: ToolAnswer): CallToolResult {
  return {
    content,
    isError,
    ...(structured && { structuredContent: structured }),
    ...(meta && { _meta: meta }),
  };
}

function notUsed<T>(): JsonSchemaValidator<T> {
  return () => ({ valid: false, data: undefined, errorMessage: "elicitation is not used" });
}
