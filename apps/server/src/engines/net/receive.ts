import type { Dispatcher } from "undici";
import type { NetHeaders, NetResponse } from "./net.ts";
import { ReceivedBody } from "./received-body.ts";

/** Makes one answer of what a dispatcher tells: it resolves with the headers, the body follows. */
export class Receiver implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: NetResponse) => void;
  readonly #reject: (error: Error) => void;
  #body: ReceivedBody | undefined;

  constructor(resolve: (answer: NetResponse) => void, reject: (error: Error) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(): void {}

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: NetHeaders): void {
    this.#body = new ReceivedBody(controller);
    this.#resolve({ status, headers, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.arrived(chunk);
  }

  onResponseEnd(): void {
    this.#body?.allArrived();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#body) this.#body.brokeOff(error);
    else this.#reject(error);
  }
}
