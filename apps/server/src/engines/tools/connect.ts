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
import { tooManyMessages } from "./message-count.ts";
import { createNetFetch, type NetFetch } from "./net-fetch.ts";
import { ToolServerError, type ToolServerTarget } from "./tools.ts";
import { WatchedTransport } from "./watched-transport.ts";

export interface OpenServer {
  client: Client;
  transport: WatchedTransport;
  /** Bytes received on streams on which the server speaks unasked. */
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
/** The revision of the protocol that knows no `initialize`. */
const sessionless = "2026-07-28";

/**
 * Connects and shakes hands. Almost every server knows `initialize`, so that comes first; one that answers but refuses
 * it is asked once more in the way of the later revisions, which have no sessions.
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
    // What the first attempt met is what most owners can do something about.
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
  const way = createNetFetch(net, target, limits, (request) => {
    if (request !== undefined) return transport.cutFlood(request);
    late.reject(notMade(tooManyMessages()));
    transport.leaveFlood();
  });
  const transport: WatchedTransport = new WatchedTransport(createTransport(target, way, limits), {
    notifyMs: limits.notifyMs,
    onSessionLeft: (session) => endSession(target, way, limits, session),
  });
  const options: ClientOptions = {
    // No sampling, no questions to the user, no roots: a server can ask for nothing but a ping.
    capabilities: {},
    versionNegotiation: { mode },
    // The library would compile the servers' schemas in this process; any pattern in them could hold it up.
    jsonSchemaValidator: { getValidator: acceptAnything },
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
  };
  const client = new Client({ name: "gantry", version }, options);
  const timer = setTimeout(() => {
    late.reject(new ToolServerError("timeout", "The server did not answer in time"));
  }, limits.connectMs);
  const connected = client.connect(transport, { timeout: limits.connectMs });
  try {
    // The library waits for ever for some servers, and for an `sse` stream that is closed from here.
    await Promise.race([connected, late.promise]);
    client.onclose = onClosed;
    return { client, transport, streamed: way.streamed };
  } catch (error) {
    connected.catch(() => {});
    await transport.close().catch(() => {});
    throw connectFailure(error, way);
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
    // The server may name the pause itself; it is neither believed to be nothing nor to be a year.
    reconnectionScheduler: (reconnect, delay) => {
      if (++reconnections > mostReconnections) return () => {};
      const pause = Math.min(Math.max(delay, reconnection.initialReconnectionDelay), limits.callMs);
      const timer = setTimeout(reconnect, pause).unref();
      return () => clearTimeout(timer);
    },
  });
}

/** By a request of its own: the transport, and all that still arrives on it, is closed by then. */
function endSession({ url }: ToolServerTarget, { fetch }: NetFetch, { farewellMs }: ToolLimits, session: string): void {
  const headers = { "mcp-session-id": session };
  fetch(url, { method: "DELETE", headers, signal: AbortSignal.timeout(farewellMs) }).then(
    ({ body }) => body?.cancel(),
    () => {},
  );
}

/** What the net port or the server said is clearer than what the library made of it. */
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
