import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

/** An answer, independent of a protocol. */
export interface ScriptedAnswer {
  text?: readonly string[];
  reasoning?: readonly string[];
  toolCalls?: readonly { id: string; name: string; arguments: string }[];
  usage?: { input: number; output: number; cached?: number } | undefined;
  stop?: "end" | "length" | "refused" | "stop_sequence";
  /** The stop text, for protocols that name it. */
  stopText?: string;
}

/** Writes answers and errors of one protocol. */
export interface Dialect {
  path: string;
  /** Why the real service would answer 400. */
  problem(body: Record<string, unknown>, headers: IncomingMessage["headers"]): string | undefined;
  /** The blocks of the stream, each without its blank line. */
  blocks(answer: ScriptedAnswer): string[];
  /** The body of an answer that is not streamed, for protocols with native requests. */
  whole?(answer: ScriptedAnswer): Record<string, unknown>;
  /** A fragment of text in the middle of an answer. */
  textBlock(text: string): string;
  errorBlock(kind: "overloaded" | "failed", message: string): string;
  errorBody(message: string): string;
  /** Keeps the connection open: a comment or an event. */
  ping: string;
}

export interface Exchange {
  request: IncomingMessage;
  body: Record<string, unknown>;
  response: ServerResponse;
  dialect: Dialect;
}

export type Behaviour = (exchange: Exchange) => void | Promise<void>;

/** A real HTTP server with one behaviour for each request. The last one repeats. */
export class TextUpstream {
  readonly requests: { body: Record<string, unknown>; headers: IncomingMessage["headers"]; at: number }[] = [];
  /** Times at which clients closed a connection before the answer had ended. */
  readonly brokenOffAt: number[] = [];
  url = "";
  behaviours: Behaviour[] = [];
  readonly #dialect: Dialect;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  play(...behaviours: Behaviour[]): void {
    this.requests.length = 0;
    this.brokenOffAt.length = 0;
    this.behaviours = behaviours;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString("utf8")) as Record<string, unknown>;
    this.requests.push({ body, headers: request.headers, at: performance.now() });
    response.on("error", () => {});
    response.on("close", () => {
      if (!response.writableFinished) this.brokenOffAt.push(performance.now());
    });
    const problem =
      request.url === this.#dialect.path
        ? this.#dialect.problem(body, request.headers)
        : `no such path: ${request.url}, but ${this.#dialect.path}`;
    if (problem !== undefined) {
      response.writeHead(400, { "content-type": "application/json" }).end(this.#dialect.errorBody(problem));
      return;
    }
    const behaviour = this.behaviours.length > 1 ? this.behaviours.shift() : this.behaviours[0];
    await behaviour?.({ request, body, response, dialect: this.#dialect });
  }
}

export function beginStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
}

export function answering(answer: ScriptedAnswer): Behaviour {
  return ({ response, dialect, body }) => {
    if (body.stream === false && dialect.whole) {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(dialect.whole(answer)));
      return;
    }
    beginStream(response);
    response.end(
      dialect
        .blocks(answer)
        .map((block) => `${block}\n\n`)
        .join(""),
    );
  };
}

/** The same bytes in tiny chunks, with pings and other line endings: cuts characters and JSON at every position. */
export function crumbling(answer: ScriptedAnswer, crumb: number, lineEnd = "\n"): Behaviour {
  return async ({ response, dialect }) => {
    beginStream(response);
    response.socket?.setNoDelay(true);
    const blocks = [": hello", dialect.ping, ...dialect.blocks(answer).flatMap((block) => [block, dialect.ping])];
    const last = dialect.blocks(answer).length * 2;
    // Nothing follows the last event of the protocol.
    const text = blocks
      .slice(0, last + 1)
      .map((block) => `${block}\n\n`)
      .join("")
      .replaceAll("\n", lineEnd);
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length; from += crumb) {
      response.write(bytes.subarray(from, from + crumb));
      await nextTurn();
    }
    response.end();
  };
}

export function refusing(status: number, message: string, headers: Record<string, string> = {}): Behaviour {
  return ({ response, dialect }) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(dialect.errorBody(message));
  };
}

export const resetting: Behaviour = ({ response }) => {
  response.socket?.resetAndDestroy();
};

/** Some text, then the rest that the test wants. */
export function beginning(texts: readonly string[], then: Behaviour): Behaviour {
  return async (exchange) => {
    const { response, dialect } = exchange;
    beginStream(response);
    // The first blocks of an answer come before its text.
    const whole = dialect.blocks({ text: texts, usage: { input: 5, output: 5 } });
    const first = whole.findIndex((block) => block === dialect.textBlock(texts[0] ?? ""));
    response.write(
      whole
        .slice(0, first + texts.length)
        .map((block) => `${block}\n\n`)
        .join(""),
    );
    await nextTurn();
    await then(exchange);
  };
}
