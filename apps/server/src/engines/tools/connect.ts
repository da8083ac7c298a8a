import {
  Client,
  type ClientOptions,
  type JsonSchemaValidator,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { Net } from "../net/net.ts";
import { notMade, ofStatus, toToolServerError } from "./failures.ts";
import type { ToolLimits } from "./limits.ts";
import { tooManyMessages } from "./message-limits.ts";
import { createNetFetch, type NetFetch } from "./net-fetch.ts";
import { ToolServerError, type ToolServerTarget } from "./tools.ts";
import { WatchedTransport } from "./watched-transport.ts";

export interface OpenServer {
  client: Client;
  transport: WatchedTransport;
  /** Bytes received outside of answers, on the server's own streams. */
  streamed(): number;
}

export interface ConnectHooks {
  /** The version of Gantry, for the handshake. */
  version: string;
  onToolsChanged(): void;
  onClosed(): void;
}

/** A stream that the server keeps ending is opened again so many times. */
const mostReconnections = 30;
const reconnection = { initialReconnectionDelay: 1000, maxReconnectionDelay: 30_000, reconnectionDelayGrowFactor: 1.5 };
/** The revision of the protocol without `initialize`. */
const sessionless = "2026-07-28";

/**
 * Connects and does the handshake. Almost every server supports `initialize`, so that is tried first. If the server refuses
 * it, the sessionless handshake of later revisions follows.
 */
export async function connectServer(
  net: Net,
  target: ToolServerTarget,
  limits: ToolLimits,
  hooks: ConnectHooks,
): Promise<OpenServer> {
  try {
    return await connect(net, target, limits, hooks, "legacy");
  } catch (error) {
    if (!isRefusal(error) || target.connectionType === "sse") throw error;
    // The error of the first attempt is more useful to most owners.
    return await connect(net, target, limits, hooks, { pin: sessionless }).catch(() => {
      throw error;
    });
  }
}

async function connect(
  net: Net,
  target: ToolServerTarget,
  limits: ToolLimits,
  { version, onToolsChanged, onClosed }: ConnectHooks,
  mode: "legacy" | { pin: string },
): Promise<OpenServer> {
  const late = Promise.withResolvers<never>();
  const netFetch = createNetFetch(net, target, limits, (request) => {
    if (request !== undefined) return transport.cutFlood(request);
    late.reject(notMade(tooManyMessages()));
    transport.leaveFlood();
  });
  const transport: WatchedTransport = new WatchedTransport(createTransport(target, netFetch, limits), {
    notifyMs: limits.notifyMs,
    onSessionLeft: (session) => endSession(target, netFetch, limits, session),
  });
  const options: ClientOptions = {
    // No sampling, elicitation or roots: a server can only send pings.
    capabilities: {},
    versionNegotiation: { mode },
    // The library would compile the schemas of servers in this process, where a hostile pattern could block it.
    jsonSchemaValidator: { getValidator: acceptAnything },
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
  };
  const client = new Client({ name: "gantry", version }, options);
  const timer = setTimeout(() => {
    late.reject(new ToolServerError("timeout", "The server did not answer in time"));
  }, limits.connectMs);
  const connected = client.connect(transport, { timeout: limits.connectMs });
  try {
    // The library waits forever for some servers, and for an `sse` stream that we closed.
    await Promise.race([connected, late.promise]);
    client.onclose = onClosed;
    return { client, transport, streamed: netFetch.streamed };
  } catch (error) {
    connected.catch(() => {});
    await transport.close().catch(() => {});
    throw connectFailure(error, netFetch);
  } finally {
    clearTimeout(timer);
  }
}

function acceptAnything<T>(): JsonSchemaValidator<T> {
  return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
}

function createTransport(target: ToolServerTarget, { fetch }: NetFetch, limits: ToolLimits) {
  const url = new URL(target.url);
  url.hash = "";
  if (target.connectionType === "sse") return new SSEClientTransport(url, { fetch });
  let reconnections = 0;
  return new StreamableHTTPClientTransport(url, {
    fetch,
    reconnectionOptions: { ...reconnection, maxRetries: 2 },
    // The server chooses the pause, within bounds.
    reconnectionScheduler: (reconnect, delay) => {
      if (++reconnections > mostReconnections) return () => {};
      const pause = Math.min(Math.max(delay, reconnection.initialReconnectionDelay), limits.callMs);
      const timer = setTimeout(reconnect, pause).unref();
      return () => clearTimeout(timer);
    },
  });
}

/** Outside of the transport, which is closed by then. */
function endSession({ url }: ToolServerTarget, { fetch }: NetFetch, { farewellMs }: ToolLimits, session: string): void {
  const headers = { "mcp-session-id": session };
  fetch(url, { method: "DELETE", headers, signal: AbortSignal.timeout(farewellMs) }).then(
    ({ body }) => body?.cancel(),
    () => {},
  );
}

/** The error of the net port or the server is clearer than the library's. */
function connectFailure(error: unknown, { last }: NetFetch): ToolServerError {
  if (error instanceof ToolServerError) return error;
  const met = last();
  if (met && "failure" in met) return notMade(toToolServerError(met.failure));
  if (met && met.status >= 300) return ofStatus(met.status, error);
  return notMade(toToolServerError(error));
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof ToolServerError) || error.reason === "unauthorized") return false;
  return error.reason === "protocol" || (error.status !== undefined && error.status < 500);
}
