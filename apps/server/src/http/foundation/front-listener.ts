import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import { newId } from "@gantry/wire";
import { errorBody, errorHeaders } from "../../kernel/error-body.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import { Ring } from "../../kernel/ring.ts";
import { type BodyPace, defaultPace, SlowBodies } from "./body-pace.ts";
import { discardBody } from "./discard-body.ts";
import { continueWhenWanted } from "./expected-continue.ts";
import { prefersOverJson } from "./preferred-type.rules.ts";
import { pathOf, requestIdOf } from "./request-line.ts";

/**
 * The listening socket, open as soon as the process starts. It answers `/healthz` and `/readyz` itself and refuses
 * everything else as retryable until the server behind it is ready, and again during shutdown.
 *
 *   starting ──► open ──► closing
 */
export interface FrontListener {
  readonly server: Server;
  listen(host: string, port: number): Promise<number>;
  /** Serves a connection that another process, or another server, has accepted. */
  take(socket: Socket): void;
  /** Passes requests to the listener. `/readyz` asks `notReady` for the reason; undefined when ready. */
  open(listener: RequestListener, notReady: () => Promise<string | undefined>): void;
  /** Closes each connection after its answer, so that no client is cut off in the middle of a request. */
  closeAfterAnswers(): void;
  /** Refuses every new request as retryable; those in progress continue, and `/healthz` still answers. */
  refuseNew(): void;
  underWay(): number;
  /** Resolves when no request is in progress, or after the time limit. */
  idle(milliseconds: number): Promise<void>;
  /** Refuses new requests, closes the socket and idle connections, and resolves when the last connection has ended. */
  close(): Promise<void>;
}

/** The error format of a part of the path space. */
export type ListenerDialect = (failure: Fault) => Record<string, unknown>;

// Headers must arrive at once. Bodies may take long (500 MB over a slow link) if they keep their pace.
const headersTimeoutMs = 15_000;
const maxKnownHosts = 1000;
/** Links in answers begin with the host, so an invalid one is refused first. */
function isHost(host: string): boolean {
  return /^[A-Za-z0-9._:[\]-]{1,255}$/.test(host) && URL.canParse(`http://${host}`);
}
const ownPath = /^\/(healthz|readyz)\/*(?:\?|$)/;

/** `dialects`: by the first path segment, such as "/v1". */
export function createFrontListener(
  publicUrl: string | undefined,
  dialects: Readonly<Record<string, ListenerDialect>> = {},
  pace: BodyPace = defaultPace,
): FrontListener {
  let state: "starting" | "open" | "closing" = "starting";
  let behind: RequestListener | undefined;
  let whyNotReady: () => Promise<string | undefined> = async () => undefined;
  const underWay = new Ring<ServerResponse>();
  /** Answered before their body arrived. */
  const unread = new Ring<IncomingMessage>();
  let keepsConnections = true;
  /** Nearly all requests name the same few hosts. */
  const knownHosts = new Set<string>();
  const whenIdle = new Set<() => void>();
  const taken = new Set<Socket>();
  let isWatching = false;
  let whenLeft = () => {};

  function pass(listener: RequestListener, request: IncomingMessage, response: ServerResponse): void {
    const entry = underWay.add(response);
    response.on("close", () => {
      entry.leave();
      if (!request.complete) watchRest(request);
      if (underWay.size === 0) for (const resolve of whenIdle) resolve();
    });
    listener(request, response);
  }

  function watchRest(request: IncomingMessage): void {
    const entry = unread.add(request);
    request.on("close", () => entry.leave());
  }

  const slowBodies = new SlowBodies(pace);
  // The answer ends the connection, and with it whatever reads the body.
  const checks = setInterval(() => {
    const responses = new Map(underWay.all().map((response) => [response.req as IncomingMessage, response]));
    for (const [request, failure] of slowBodies.check([...responses.keys(), ...unread.all()])) {
      const response = responses.get(request);
      if (!response || response.headersSent) request.destroy();
      else {
        response.setHeader("connection", "close");
        answerFault(request, response, failure, baseOf(request));
      }
    }
  }, pace.checkMs).unref();

  function endConnection(response: ServerResponse): void {
    if (!response.headersSent) response.setHeader("connection", "close");
  }

  const receive: RequestListener = (request, response) => {
    const { headers, httpVersion, socket, rawHeaders, url = "" } = request;
    response.setHeader("x-content-type-options", "nosniff");
    if (!keepsConnections) endConnection(response);
    // HTTP/1.0 clients may omit Host.
    if (headers.host === undefined && httpVersion === "1.0") headers.host = hostOf(socket);
    if (headers.host === undefined) return refuseUnreadable(request, response, "Missing Host header.");
    if (hasTwoHosts(rawHeaders)) return refuseUnreadable(request, response, "More than one Host header.");
    if (!knownHosts.has(headers.host)) {
      if (!isHost(headers.host)) return refuseUnreadable(request, response, "Invalid Host header.");
      if (knownHosts.size < maxKnownHosts) knownHosts.add(headers.host);
    }
    const asked = ownPath.exec(url.startsWith("/") ? url : pathOf(url))?.[1];
    if (asked === "healthz") return answer(request, response, 200, { status: "ok" });
    if (asked === "readyz") return void answerReady(request, response);
    if (state === "open" && behind) return pass(behind, request, response);
    refuse(request, response);
  };

  const server = createServer(
    // A missing Host is refused below, with a body that explains it.
    { requestTimeout: 0, headersTimeout: headersTimeoutMs, keepAliveTimeout: 72_000, requireHostHeader: false },
    receive,
  );

  async function answerReady(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (state !== "open") return answer(request, response, 503, { status: state });
    const reason = await whyNotReady().catch(() => "The readiness check failed");
    if (reason === undefined) answer(request, response, 200, { status: "ready" });
    else answer(request, response, 503, { status: "not ready", reason });
  }

  function refuse(request: IncomingMessage, response: ServerResponse): void {
    // A client that is still sending must be able to read the answer.
    discardBody(request, response);
    const msg = state === "closing" ? "The server is shutting down" : "The server is starting";
    // A browser shows the requested page as soon as the server is ready.
    if (prefersOverJson(request.headers.accept, "text/html")) response.setHeader("refresh", "2");
    answerFault(request, response, fault("service_unavailable", msg, { retryAfterSeconds: 1 }), baseOf(request));
  }

  const baseOf = ({ headers }: IncomingMessage) => publicUrl ?? `http://${headers.host ?? "localhost"}`;

  /** For requests without a valid Host header. */
  const addressOf = (socket: Socket) => publicUrl ?? `http://${hostOf(socket)}`;

  function refuseUnreadable(request: IncomingMessage, response: ServerResponse, msg: string): void {
    response.setHeader("connection", "close");
    answerFault(request, response, fault("request_invalid", msg), addressOf(request.socket));
  }

  function answerFault(request: IncomingMessage, response: ServerResponse, failure: Fault, base: string): void {
    const path = pathOf(request.url ?? "");
    const [, dialect] = Object.entries(dialects).find(([part]) => `${path}/`.startsWith(`${part}/`)) ?? [];
    for (const [name, value] of Object.entries(errorHeaders(failure))) response.setHeader(name, value);
    answer(request, response, failure.status, dialect ? dialect(failure) : errorBody(failure, base));
  }

  // A request that node:http cannot parse is answered on the bare socket.
  function refuseSocket(socket: Socket, msg: string): void {
    const failure = fault("request_invalid", msg);
    const body = JSON.stringify(errorBody(failure, addressOf(socket)));
    const headers = Object.entries(errorHeaders(failure)).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(
      `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\nx-request-id: ${newId("request")}\r\n` +
        `${headers.join("")}content-type: application/json; charset=utf-8\r\nx-content-type-options: nosniff\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
  }

  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
    refuseSocket(socket, unreadable[error.code ?? ""] ?? "The request is not valid HTTP.");
  });
  server.on("connect", (_request, socket: Socket) => refuseSocket(socket, "This server is not a proxy."));
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    continueWhenWanted(request, response);
    receive(request, response);
  });
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) =>
    refuseUnreadable(request, response, "Unsupported Expect header. Only 100-continue is supported."),
  );

  return {
    server,
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, () => {
          server.off("error", reject);
          const address = server.address();
          resolve(typeof address === "object" && address ? address.port : port);
        });
      }),
    take(socket) {
      // node:http watches the header timeout and idle connections only of a server that listens.
      if (!server.listening && !isWatching) server.emit("listening");
      isWatching = true;
      // As of connections that node:http accepts: a client may end its half after the request.
      socket.allowHalfOpen = true;
      taken.add(socket);
      socket.once("close", () => {
        taken.delete(socket);
        if (taken.size === 0) whenLeft();
      });
      server.emit("connection", socket);
      socket.resume();
    },
    open(listener, notReady) {
      behind = listener;
      whyNotReady = notReady;
      if (state === "starting") state = "open";
    },
    closeAfterAnswers() {
      keepsConnections = false;
      for (const response of underWay.all()) endConnection(response);
    },
    refuseNew() {
      state = "closing";
    },
    underWay: () => underWay.size,
    idle(milliseconds) {
      if (underWay.size === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          whenIdle.delete(done);
          resolve();
        };
        const timer = setTimeout(done, milliseconds);
        whenIdle.add(done);
      });
    },
    close() {
      state = "closing";
      const left = new Promise<void>((resolve) => {
        whenLeft = resolve;
        if (taken.size === 0) resolve();
      });
      return new Promise((resolve) => {
        server.close(async () => {
          await left;
          clearInterval(checks);
          resolve();
        });
        server.closeIdleConnections();
      });
    },
  };
}

function hostOf({ localAddress = "localhost", localPort }: Socket): string {
  return `${localAddress.includes(":") ? `[${localAddress}]` : localAddress}:${localPort}`;
}

const unreadable: Record<string, string> = {
  HPE_HEADER_OVERFLOW: "The request headers are too long.",
  ERR_HTTP_REQUEST_TIMEOUT: "The request headers arrived too late.",
};

/** node:http uses the first Host header; a proxy may have used the other. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let found = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === "host") found++;
  }
  return found > 1;
}

function answer(request: IncomingMessage, response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "x-content-type-options": "nosniff",
    "x-request-id": requestIdOf(request.headers),
  });
  response.end(JSON.stringify(body));
}
