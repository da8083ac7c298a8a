import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { inOneTick } from "../../../kernel/flush-at-tick-end.ts";
import { NetError, type NetHeaders } from "../net.ts";
import type { Carrier, Exchange } from "./exchange.ts";
import { ResponseParser, type ResponseSink } from "./response-parser.ts";
import { type Sending, sendBody } from "./send-body.ts";

export interface ConnectionOwner {
  readonly maxHeadBytes: number;
  onFree(connection: Connection): void;
  onGone(connection: Connection): void;
}

/**
 * One connection, one exchange at a time.
 *
 *   free ──start──► busy ──answer complete and reusable──► free
 *     │               └──abort, cut, unexpected bytes, request body not sent completely──► gone
 *     └──bytes or end from the server──► gone
 */
export class Connection implements Carrier, ResponseSink {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #parser: ResponseParser;
  #exchange: Exchange | undefined;
  #sending: Sending | undefined;
  #paused = false;
  #gone = false;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#parser = new ResponseParser(this, owner.maxHeadBytes);
    socket.on("error", (error) => this.fail(error));
    socket.on("end", () => this.#onServerEnd());
    socket.on("close", () => this.fail(new NetError("cut", "The server's answer is incomplete")));
  }

  /** The server's idle timeout, if announced. */
  get keepAliveMs(): number | undefined {
    return this.#parser.keepAliveMs;
  }

  start(exchange: Exchange): void {
    this.#exchange = exchange;
    this.#parser.begin(exchange.outgoing.method);
    const { head, outgoing } = exchange;
    const { body } = outgoing;
    if (body === undefined || body === "") this.#socket.write(head.text, "latin1");
    else if (typeof body === "string" && head.isAscii) this.#socket.write(head.text + body);
    else {
      this.#socket.cork();
      this.#socket.write(head.text, "latin1");
      if (typeof body === "string" || body instanceof Uint8Array) this.#socket.write(body);
      else this.#send(exchange, body);
      this.#socket.uncork();
    }
  }

  #send(exchange: Exchange, body: Readable): void {
    this.#sending = sendBody(this.#socket, body, {
      length: exchange.head.length,
      onProgress: () => exchange.onSent(),
      onDone: () => {
        this.#sending = undefined;
      },
      onError: (error) => {
        this.#sending = undefined;
        this.fail(error);
      },
    });
  }

  /** False: no more bytes until `resume`. */
  read(size: number, buffer: Buffer): boolean {
    if (this.#exchange) inOneTick(() => this.#parse(size, buffer));
    else this.destroy();
    return !this.#paused;
  }

  #parse(size: number, buffer: Buffer): void {
    try {
      this.#parser.read(buffer, size);
    } catch (error) {
      this.fail(error);
    }
  }

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }

  onHead(status: number, headers: NetHeaders): void {
    this.#exchange?.onHead(status, headers);
  }

  onBody(chunk: Buffer): void {
    this.#exchange?.onBody(chunk);
  }

  onEnd(): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    // After an early answer the rest of the request body cannot be sent, so the connection cannot be reused.
    const isReusable = this.#parser.reusable && !this.#sending;
    this.resume();
    if (isReusable) this.#owner.onFree(this);
    else this.destroy();
    exchange?.onEnd();
  }

  #onServerEnd(): void {
    try {
      this.#parser.close();
    } catch (error) {
      this.fail(error);
    }
    this.destroy();
  }

  /** Fails the current exchange, if any. */
  fail(error: unknown): void {
    const exchange = this.#exchange;
    this.destroy();
    exchange?.onError(error);
  }

  destroy(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#exchange = undefined;
    this.#parser.stop();
    this.#sending?.stop(new Error("The call is over"));
    this.#socket.destroy();
    this.#owner.onGone(this);
  }
}
