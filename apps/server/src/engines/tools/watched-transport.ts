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

/** A JSON-RPC error that no server sent: the stream that should have brought the answer ended without it. */
export const streamEndedCode = -32_950;
/** Another one: the server sent more messages than are read. */
export const floodCode = -32_951;

/** How long a server may leave a stream open after it has brought the answer. */
const afterAnswerMs = 1000;
/** Requests of the server to us, such as pings. Each costs us a request in return. */
const mostRequests = 100;
const requestWindowMs = 10_000;

interface Watch {
  notifyMs: number;
  /** Called once the connection of a flood is closed, where the server gave a session, which it need not keep. */
  onSessionLeft(session: string): void;
}

/**
 * Stands between the library's client and its transport, and does what neither does:
 *
 * - a request whose answer stream ends without an answer fails at once, not at its time-out;
 * - a request that is cancelled, or answered, gives its stream up;
 * - the one stream of an `sse` connection is the session: when it breaks, the connection is over, not reconnected;
 * - messages that want no answer have an end too;
 * - an answer that floods us is cut; a server that does so unasked, or with requests, is left, and told so.
 */
export class WatchedTransport implements Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport["onmessage"];
  readonly #inner: StreamableHTTPClientTransport | SSEClientTransport;
  readonly #watch: Watch;
  /** Requests without an answer, and what cuts their streams. */
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

  /** Whether the server may forget one; of an `sse` connection the address for requests is the session. */
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

  /** Tells the server that its session is no longer needed. */
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
    // Whoever watches the stream's end itself needs no word from here.
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
    this.onmessage?.({ jsonrpc: "2.0", id, error: { code: streamEndedCode, message: "The answer broke off" } });
  }

  /** One request gets no answer any more; the others, which have streams of their own, go on. */
  cutFlood(id: RequestId): void {
    const cut = this.#giveUp(id);
    if (!cut) return;
    this.onmessage?.({ jsonrpc: "2.0", id, error: { code: floodCode, message: "Too many messages" } });
    cut.abort();
  }

  /** Whatever was asked gets no answer any more. */
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
