import type { GantryClient } from "@gantry/sdk";
import { elapsed, sizeOf } from "../frame/format.rules.ts";
import type { Output } from "../frame/output.ts";

const largeBytes = 256 * 1024;
const askQueueEveryMs = 5_000;
const barWidth = 24;

/** A line on stderr while a call is sent and waited for. `stop` removes it. */
export function showProgress(out: Output, client: GantryClient, model: string): { stop(): void } {
  const began = Date.now();
  let sent: string | undefined;
  let queue = "";
  const show = (): void => out.progress(sent ?? `Running ${model} ${elapsed((Date.now() - began) / 1000)}${queue}`);
  const uncount = countUploads((bytes, total) => {
    sent = bytes < total ? `${barOf(bytes / total)} ${sizeOf(bytes)} of ${sizeOf(total)} sent` : undefined;
    show();
  });
  const ticks = setInterval(show, 1_000);
  const looks = setInterval(() => {
    client.flow(model).then(
      ({ messages_ready: waiting }) => {
        queue = waiting > 0 ? `, ${waiting} waiting for this model` : "";
      },
      () => undefined,
    );
  }, askQueueEveryMs);
  return {
    stop() {
      clearInterval(ticks);
      clearInterval(looks);
      uncount();
      out.progress(undefined);
    },
  };
}

export function barOf(part: number): string {
  const full = Math.round(Math.min(1, part) * barWidth);
  return `[${"#".repeat(full)}${".".repeat(barWidth - full)}] ${Math.floor(Math.min(1, part) * 100)} %`;
}

/**
 * Counts the bytes of large bodies while they are sent. The SDK calls the platform's fetch, which reads a Blob through
 * its `stream`.
 */
function countUploads(report: (bytes: number, total: number) => void): () => void {
  const plain = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const body = init?.body;
    if (body instanceof Blob && body.size > largeBytes) {
      const total = body.size;
      const read = body.stream.bind(body);
      let bytes = 0;
      const counter = () =>
        new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
          transform(chunk, controller) {
            bytes += chunk.byteLength;
            report(bytes, total);
            controller.enqueue(chunk);
          },
        });
      Object.defineProperty(body, "stream", {
        configurable: true,
        value: () => {
          bytes = 0;
          return read().pipeThrough(counter());
        },
      });
    }
    return plain(input, init);
  };
  return () => {
    globalThis.fetch = plain;
  };
}
