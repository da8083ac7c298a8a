import type { NetControl, NetHandler, NetHeaders, NetResponse } from "./net.ts";
import { ReceivedBody } from "./received-body.ts";

/** Makes one answer of what an exchange tells: it resolves with the headers, the body follows. */
export class Receiver implements NetHandler {
  readonly #resolve: (answer: NetResponse) => void;
  readonly #reject: (error: Error) => void;
  #body: ReceivedBody | undefined;

  constructor(resolve: (answer: NetResponse) => void, reject: (error: Error) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onResponseStart(control: NetControl, status: number, headers: NetHeaders): void {
    this.#body = new ReceivedBody(control);
    this.#resolve({ status, headers, body: this.#body });
  }

  onResponseData(_control: NetControl, chunk: Buffer): void {
    this.#body?.arrived(chunk);
  }

  onResponseEnd(): void {
    this.#body?.allArrived();
  }

  onResponseError(error: Error): void {
    if (this.#body) this.#body.brokeOff(error);
    else this.#reject(error);
  }
}
