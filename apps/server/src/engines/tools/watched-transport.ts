import {
  type JSONRPCMessage,
  type MessageExtraInfo,
  type RequestId,
  type SSEClientTransport,
  SseError,
  type StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/client";

/** Not sent by servers: the stream ended without the answer. */
export const streamEndedCode = -32_950;
/** Not sent by servers: too many messages. */
export const floodCode = -32_951;

/** How long a stream may stay open after its answer. */
const afterAnswerMs = 1000;
/** Requests from the server, such as pings. Each costs a request in return. */
const mostRequests = 100;
const requestWindowMs = 10_000;

interface Watch {
  notifyMs: number;
  /** Called after the connection was closed because of a flood, with the session to end. */
  onSessionLeft(session: string): void;
}

/**
 * Wraps the transport of the library and adds:
 *
 * - a request whose stream ends without an answer fails at once instead of timing out;
 * - the stream of a cancelled or answered request is closed;
 * - the stream of an `sse` connection is its session: if it breaks, the connection closes instead of reconnecting;
 * - messages without an answer have a timeout;
 * - an answer with too many messages is cut. If the flood comes outside of answers, or as requests, the session ends.
 */
export class WatchedTransport implements Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport["onmessage"];
  readonly #inner: StreamableHTTPClientTransport | SSEClientTransport;
  readonly #watch: Watch;
  /** The controllers close the streams. */
  readonly #unanswered = new Map<RequestId, AbortController>();
  #closed = false;
  #requests = { since: 0, count: 0 };

  constructor(inner: StreamableHTTPClientTransport | SSEClientTransport, watch: Watch) {
    this.#inner = inner;
    this.#watch = watch;
    inner.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => this.#receive(message, extra);
    inner.onerror = (error: Error) => {
      this.onerror?.(error);
      if (error instanceof SseError) void this.close();
    };
    inner.onclose = () => {
      if (this.#closed) return;
      this.#closed = true;
      this.onclose?.();
    };
  }

  get hasPerRequestStream(): boolean {
    return "hasPerRequestStream" in this.#inner;
  }

  get sessionId(): string | undefined {
    return "sessionId" in this.#inner ? this.#inner.sessionId : undefined;
  }

  /** With `sse` the address for requests is the session. */
  get hasSession(): boolean {
    return !this.hasPerRequestStream || this.sessionId !== undefined;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async endSession(): Promise<void> {
    if ("terminateSession" in this.#inner) await this.#inner.terminateSession();
  }

  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if ("method" in message && "id" in message) return this.#sendRequest(message.id, message, options);
    try {
      await this.#send(message, { ...options, requestSignal: AbortSignal.timeout(this.#watch.notifyMs) });
    } finally {
      const cancelled = cancelledRequest(message);
      if (cancelled !== undefined) this.#giveUp(cancelled)?.abort();
    }
  }

  async #sendRequest(id: RequestId, message: JSONRPCMessage, options: TransportSendOptions): Promise<void> {
    const cut = new AbortController();
    this.#unanswered.set(id, cut);
    const requestSignal = options.requestSignal ? AbortSignal.any([options.requestSignal, cut.signal]) : cut.signal;
    const onRequestStreamEnd = options.onRequestStreamEnd ?? (() => this.#streamEnded(id));
    try {
      await this.#send(message, { ...options, requestSignal, onRequestStreamEnd });
    } catch (error) {
      this.#giveUp(id);
      throw error;
    }
  }

  #send(message: JSONRPCMessage, options: TransportSendOptions): Promise<void> {
    return "hasPerRequestStream" in this.#inner ? this.#inner.send(message, options) : this.#inner.send(message);
  }

  #receive(message: JSONRPCMessage, extra?: MessageExtraInfo): void {
    if (!("method" in message)) {
      const cut = message.id === undefined ? undefined : this.#giveUp(message.id);
      if (cut) setTimeout(() => cut.abort(), afterAnswerMs).unref();
    } else if ("id" in message && this.#isFlood()) {
      this.leaveFlood();
      return;
    }
    try {
      this.onmessage?.(message, extra);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #streamEnded(id: RequestId): void {
    if (!this.#giveUp(id)) return;
    this.onmessage?.({ jsonrpc: "2.0", id, error: { code: streamEndedCode, message: "The answer was interrupted" } });
  }

  /** Ends one request. The others have their own streams. */
  cutFlood(id: RequestId): void {
    const cut = this.#giveUp(id);
    if (!cut) return;
    this.onmessage?.({ jsonrpc: "2.0", id, error: { code: floodCode, message: "Too many messages" } });
    cut.abort();
  }

  /** Ends all requests and the connection. */
  leaveFlood(): void {
    if (this.#closed) return;
    const session = this.sessionId;
    for (const id of [...this.#unanswered.keys()]) this.cutFlood(id);
    void this.close();
    if (session !== undefined) this.#watch.onSessionLeft(session);
  }

  #giveUp(id: RequestId): AbortController | undefined {
    const cut = this.#unanswered.get(id);
    this.#unanswered.delete(id);
    return cut;
  }

  #isFlood(): boolean {
    const now = performance.now();
    if (now - this.#requests.since > requestWindowMs) this.#requests = { since: now, count: 0 };
    this.#requests.count += 1;
    return this.#requests.count > mostRequests;
  }
}

function cancelledRequest(message: JSONRPCMessage): RequestId | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  return (message.params as { requestId?: RequestId } | undefined)?.requestId;
}
