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
import { requestIdOf } from "./request-id.ts";
import { pathOf } from "./request-path.ts";

/**
 * The listening socket, open from the first moment of the process on. It answers `/healthz` and `/readyz` itself and
 * refuses everything else as retryable until the server behind it is ready, and again once it is going down.
 *
 *   starting ──► open ──► closing
 */
export interface FrontListener {
  readonly server: Server;
  listen(host: string, port: number): Promise<number>;
  /** From now on requests go to the listener; `notReady` is asked by `/readyz`: why it is not, undefined when it is. */
  open(listener: RequestListener, notReady: () => Promise<string | undefined>): void;
  /** From now on every answer ends its connection: whoever keeps one would find it cut in the middle of a request. */
  closeAfterAnswers(): void;
  /** From now on every request is refused as retryable; those under way go on, and `/healthz` still answers. */
  refuseNew(): void;
  /** How many requests are not answered to their end. */
  underWay(): number;
  /** Resolves when no request is under way, or the time is over. */
  idle(milliseconds: number): Promise<void>;
  /** Refuses new requests, closes the socket and idle connections, and resolves when the last connection has ended. */
  close(): Promise<void>;
}

/** How a part of the addresses words its errors, where it does not as the others do. */
export type ListenerDialect = (failure: Fault) => Record<string, unknown>;

// Headers must come at once. Bodies may take long (500 MB over a slow line) as long as they keep their pace.
const headersTimeoutMs = 15_000;
const mostKnownHosts = 1000;
/** Links in answers begin with it: what no link can begin with is refused before anything is done. */
function isHost(host: string): boolean {
  return /^[A-Za-z0-9._:[\]-]{1,255}$/.test(host) && URL.canParse(`http://${host}`);
}
const ownPath = /^\/(healthz|readyz)\/*(?:\?|$)/;

/** `dialects`: by the first part of their addresses, as "/v1". */
export function createFrontListener(
  publicUrl: string | undefined,
  dialects: Readonly<Record<string, ListenerDialect>> = {},
  pace: BodyPace = defaultPace,
): FrontListener {
  let state: "starting" | "open" | "closing" = "starting";
  let behind: RequestListener | undefined;
  let whyNotReady: () => Promise<string | undefined> = async () => undefined;
  const underWay = new Ring<ServerResponse>();
  /** Answered before their body had arrived. */
  const unread = new Ring<IncomingMessage>();
  let keepsConnections = true;
  /** Those that were looked at: nearly all requests name the same few. */
  const knownHosts = new Set<string>();
  const whenIdle = new Set<() => void>();

  function pass(listener: RequestListener, request: IncomingMessage, response: ServerResponse): void {
    const place = underWay.add(response);
    response.on("close", () => {
      place.leave();
      if (!request.complete) watchRest(request);
      if (underWay.size === 0) for (const tell of whenIdle) tell();
    });
    listener(request, response);
  }

  function watchRest(request: IncomingMessage): void {
    const place = unread.add(request);
    request.on("close", () => place.leave());
  }

  const slowBodies = new SlowBodies(pace);
  // Without regard to who reads the body: the answer ends the connection, and with it the reading.
  const looks = setInterval(() => {
    const responses = new Map(underWay.all().map((response) => [response.req as IncomingMessage, response]));
    for (const [request, failure] of slowBodies.look([...responses.keys(), ...unread.all()])) {
      const response = responses.get(request);
      if (!response || response.headersSent) request.destroy();
      else {
        response.setHeader("connection", "close");
        answerFault(request, response, failure, baseOf(request));
      }
    }
  }, pace.lookMs).unref();

  function endConnection(response: ServerResponse): void {
    if (!response.headersSent) response.setHeader("connection", "close");
  }

  const receive: RequestListener = (request, response) => {
    const { headers, httpVersion, socket, rawHeaders, url = "" } = request;
    response.setHeader("x-content-type-options", "nosniff");
    if (!keepsConnections) endConnection(response);
    // Only before HTTP/1.1 may a client say nothing of whom it calls: then it is the address that it has called.
    if (headers.host === undefined && httpVersion === "1.0") headers.host = hostOf(socket);
    if (headers.host === undefined) return refuseUnreadable(request, response, "The Host header is missing");
    if (hasTwoHosts(rawHeaders)) return refuseUnreadable(request, response, "There is more than one Host header");
    if (!knownHosts.has(headers.host)) {
      if (!isHost(headers.host)) return refuseUnreadable(request, response, "The Host header is no host");
      if (knownHosts.size < mostKnownHosts) knownHosts.add(headers.host);
    }
    const asked = ownPath.exec(url.startsWith("/") ? url : pathOf(url))?.[1];
    if (asked === "healthz") return answer(request, response, 200, { status: "ok" });
    if (asked === "readyz") return void answerReady(request, response);
    if (state === "open" && behind) return pass(behind, request, response);
    refuse(request, response);
  };

  const server = createServer(
    // A missing Host is refused here, with a body that says so.
    { requestTimeout: 0, headersTimeout: headersTimeoutMs, keepAliveTimeout: 72_000, requireHostHeader: false },
    receive,
  );

  async function answerReady(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (state !== "open") return answer(request, response, 503, { status: state });
    const reason = await whyNotReady().catch(() => "The server cannot say whether it is ready");
    if (reason === undefined) answer(request, response, 200, { status: "ready" });
    else answer(request, response, 503, { status: "not ready", reason });
  }

  function refuse(request: IncomingMessage, response: ServerResponse): void {
    // Whoever is in the middle of sending must still be able to read the answer.
    discardBody(request, response);
    const msg = state === "closing" ? "The server is shutting down" : "The server is starting";
    // Whoever looks at it in a browser sees what was asked for as soon as it is there.
    if (prefersOverJson(request.headers.accept, "text/html")) response.setHeader("refresh", "2");
    answerFault(request, response, fault("service_unavailable", msg, { retryAfterSeconds: 1 }), baseOf(request));
  }

  const baseOf = ({ headers }: IncomingMessage) => publicUrl ?? `http://${headers.host ?? "localhost"}`;

  /** Where nothing says under which name the client knows this server. */
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

  // What node:http cannot read as a request never becomes one; it is answered on the bare socket.
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
    refuseSocket(socket, unreadable[error.code ?? ""] ?? "The request is not readable as HTTP");
  });
  server.on("connect", (_request, socket: Socket) => refuseSocket(socket, "This server is no proxy"));
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    continueWhenWanted(request, response);
    receive(request, response);
  });
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) =>
    refuseUnreadable(request, response, "The header Expect asks for what this server does not do"),
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
      return new Promise((resolve) => {
        server.close(() => {
          clearInterval(looks);
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
  HPE_HEADER_OVERFLOW: "The headers of the request are too long",
  ERR_HTTP_REQUEST_TIMEOUT: "The headers of the request came too late",
};

/** node:http takes the first one, and what stands before the server may have taken the other. */
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
