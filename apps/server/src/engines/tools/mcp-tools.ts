import { type Progress, ProtocolError } from "@modelcontextprotocol/client";
import { unlessAborted } from "../../kernel/unless-aborted.ts";
import type { Net } from "../net/net.ts";
import { type Connection, Connections } from "./connections.ts";
import { isSessionLost, notMade, refusedCall, toToolServerError, withAdvice } from "./failures.ts";
import { anyObject } from "./json.ts";
import { defaultToolLimits, type ToolLimits } from "./limits.ts";
import { readResult } from "./read-result.ts";
import { readTools } from "./read-tools.ts";
import { Slots } from "./slots.ts";
import {
  type ToolCall,
  type ToolList,
  type ToolProgress,
  type ToolResult,
  type ToolServerClients,
  ToolServerError,
  type ToolServerTarget,
} from "./tools.ts";
import { floodCode, streamEndedCode } from "./watched-transport.ts";

const progressPauseMs = 250;
const longestProgress = 500;
/** Error codes from the transport, not from a server. */
const ownCodes: ReadonlySet<number> = new Set([streamEndedCode, floodCode]);

/** MCP servers over HTTP, with the official client. */
export function createMcpTools(options: {
  net: Net;
  version: string;
  limits?: Partial<ToolLimits>;
}): ToolServerClients {
  const limits = { ...defaultToolLimits, ...options.limits };
  const slots = new Slots(limits.parallel, limits.waiting);
  const connections = new Connections(options.net, limits, options.version);

  /** If the server has lost the session, opens a new one and repeats the request once. */
  async function request<T>(
    target: ToolServerTarget,
    signal: AbortSignal,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const attempt = (isLast: boolean): Promise<T | undefined> =>
      connections.use(target, signal, async (connection) => {
        try {
          return await work(connection);
        } catch (error) {
          if (isSessionLost(error, connection.transport) && !isLast) {
            connections.drop(connection);
            return undefined;
          }
          if (isBroken(toToolServerError(error))) connections.drop(connection);
          throw error;
        }
      });
    return ((await attempt(false)) ?? (await attempt(true))) as T;
  }

  /** Rejects with the caller's reason or a ToolServerError. */
  async function within<T>(
    target: ToolServerTarget,
    totalMs: number,
    caller: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    caller?.throwIfAborted();
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), totalMs);
    const signal = caller ? AbortSignal.any([caller, deadline.signal]) : deadline.signal;
    try {
      return await work(signal);
    } catch (error) {
      if (caller?.aborted) throw caller.reason;
      if (!deadline.signal.aborted || error instanceof ToolServerError) {
        throw withAdvice(toToolServerError(error), target);
      }
      throw new ToolServerError("timeout", "The server did not answer in time", { outcome: "unknown", cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async function inSlot<T>(
    wanted: { serverId: string; userId: string },
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    const giveBack = await slots.take(wanted, signal).catch((error) => {
      if (error instanceof ToolServerError) throw error;
      throw new ToolServerError("timeout", "Earlier calls to this server took too long", { cause: error });
    });
    return work().finally(giveBack);
  }

  /** Callers share one request per connection. */
  function listedTools(connection: Connection, fresh: boolean): Promise<ToolList> {
    const known = connection.tools;
    if (known && (known.isUnderWay || (!fresh && performance.now() - known.at < limits.listTtlMs))) return known.listed;
    // Without the caller's signal, because other callers wait for the same list.
    const listed = readTools(connection.client, connection.target, AbortSignal.timeout(limits.listMs), limits.listMs);
    const entry = { listed, at: performance.now(), isUnderWay: true };
    connection.tools = entry;
    listed.then(
      () => {
        entry.isUnderWay = false;
      },
      () => {
        if (connection.tools === entry) connection.tools = undefined;
      },
    );
    return listed;
  }

  return {
    listTools: (target, { signal: caller, fresh = false } = {}) =>
      within(target, limits.connectMs + limits.listMs, caller, (signal) =>
        request(target, signal, (connection) => unlessAborted(listedTools(connection, fresh), signal)),
      ).catch((error) => {
        throw error instanceof ToolServerError ? notMade(error) : error;
      }),

    callTool: (target, call) =>
      within(target, limits.callTotalMs, call.signal, (signal) =>
        inSlot({ serverId: target.id, userId: call.userId }, signal, () =>
          request(target, signal, (connection) => callOn(connection, call, signal, limits.callMs)),
        ),
      ),

    forget: (serverId) => connections.forget(serverId),
    close: () => connections.close(),
  };
}

async function callOn(
  { client, transport }: Connection,
  call: ToolCall,
  signal: AbortSignal,
  timeout: number,
): Promise<ToolResult> {
  const params = { name: call.tool, arguments: call.arguments };
  const options = { signal, timeout, onprogress: throttled(call.onProgress), resetTimeoutOnProgress: true };
  try {
    return readResult(await client.request({ method: "tools/call", params }, anyObject, options));
  } catch (error) {
    const refused = error instanceof ProtocolError && !ownCodes.has(error.code) ? error : refusedCall(error, transport);
    if (!refused || refused instanceof ToolServerError) throw refused ?? error;
    // The server's own error, such as an unknown tool or invalid arguments.
    return { content: [{ type: "text", text: refused.message }], structured: undefined, isError: true };
  }
}

/** Passes progress on a few times a second. */
function throttled(report: ((progress: ToolProgress) => void) | undefined): (progress: Progress) => void {
  let next = 0;
  return ({ progress, total, message }) => {
    if (!report || performance.now() < next) return;
    next = performance.now() + progressPauseMs;
    report({ progress, total, message: message?.slice(0, longestProgress) });
  };
}

/** The connection must be replaced. */
function isBroken({ reason }: ToolServerError): boolean {
  return reason === "unreachable" || reason === "unauthorized" || reason === "address_refused";
}
