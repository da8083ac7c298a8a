import type { Net, NetControl, NetHeaders } from "../../net/net.ts";
import type { TextWithin } from "../chat.ts";
import { createSseReader, type SseEvent } from "../sse.ts";
import {
  broken,
  errorBodyMs,
  keptBody,
  netRequestOf,
  refusalOf,
  type UpstreamCall,
  UpstreamLost,
  withRetries,
} from "../upstream.ts";
import type { Pause } from "./pause.ts";

/** Reads one answer of a streaming protocol. Each try has its own reader. */
export interface StreamReader {
  /** A returned promise pauses reading until it resolves. Throws failures that the protocol reports. */
  onEvent(event: SseEvent): Pause;
  /** Reads an answer that is not streamed. */
  onWhole?(body: Record<string, unknown>): void;
  /** True once the client has received output. From then on the call is not retried. */
  readonly delivered: boolean;
  /** True once the answer is complete: a connection that breaks now is not an error. */
  readonly complete: boolean;
  /** True once the protocol has announced the end of the stream. */
  readonly closed: boolean;
  /** Set if the upstream paused. It continues when the next request contains this as the answer so far. */
  readonly pausedWith?: unknown;
  /** Set if the last event repeated the form of an earlier one and contains only text. */
  readonly textWithin?: TextWithin | undefined;
}

/** Time for an upstream to close its response after the last event, so that the connection can be reused. */
const lingerMs = 1000;

/** Resolves when the answer is complete. */
export function streamUpstream(net: Net, call: UpstreamCall, open: () => StreamReader): Promise<void> {
  let reader: StreamReader | undefined;
  return withRetries(
    call,
    async () => {
      reader = open();
      await exchange(net, call, await netRequestOf(call), reader);
    },
    () => reader?.delivered !== true,
  );
}

/**
 *   waiting ──headers 2xx──► reading ⇄ paused (the reader asked to wait) ──end──► settled
 *      └──── other status ──► collecting its error body ──end | enough | slow──► settled
 */
function exchange(
  net: Net,
  call: UpstreamCall,
  request: Parameters<Net["dispatch"]>[0],
  reader: StreamReader,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const sse = createSseReader();
    let control: NetControl | undefined;
    let refused: { status: number; headers: NetHeaders; chunks: Buffer[]; size: number } | undefined;
    let settled = false;
    let waiting = false;
    let ended = false;
    let linger: NodeJS.Timeout | undefined;
    const backlog: SseEvent[] = [];

    function settle(error?: unknown): void {
      if (settled) return;
      settled = true;
      if (error === undefined) resolve();
      else reject(error);
    }

    function fail(error: unknown): void {
      settle(error);
      control?.abort(error instanceof Error ? error : new Error("The stream was abandoned", { cause: error }));
    }

    function refusal(): Error {
      const { status, headers, chunks } = refused ?? { status: 0, headers: {}, chunks: [] };
      return refusalOf(call, status, headers, Buffer.concat(chunks).toString("utf8"));
    }

    function closeByEnd(): void {
      settle(
        reader.complete
          ? undefined
          : broken(new UpstreamLost("cut", "The upstream ended its stream before its answer was complete")),
      );
    }

    function deliver(events: readonly SseEvent[]): void {
      for (let i = 0; i < events.length; i++) {
        const event = events[i];
        if (settled || event === undefined) return;
        const pause = reader.onEvent(event);
        if (!pause) continue;
        waiting = true;
        control?.pause();
        backlog.unshift(...events.slice(i + 1));
        pause.then(resume, fail);
        return;
      }
      if (reader.closed && !settled) {
        settle();
        linger = setTimeout(() => control?.abort(new Error("The upstream did not end its answer")), lingerMs);
        linger.unref();
      }
    }

    function resume(): void {
      waiting = false;
      if (settled) return;
      try {
        deliver(backlog.splice(0));
      } catch (error) {
        fail(error);
      }
      if (waiting || settled) return;
      if (ended) closeByEnd();
      else control?.resume();
    }

    function take(events: readonly SseEvent[]): void {
      if (waiting) backlog.push(...events);
      else deliver(events);
    }

    net.dispatch(request, {
      onResponseStart(given, status, headers) {
        control = given;
        const isStream = !String(headers["content-type"] ?? "").startsWith("application/json");
        if (status >= 200 && status <= 299 && isStream) return;
        refused = { status, headers, chunks: [], size: 0 };
        linger = setTimeout(() => fail(refusal()), errorBodyMs);
      },
      onResponseData(given, chunk) {
        control = given;
        if (settled) return;
        if (refused) {
          refused.chunks.push(Buffer.from(chunk));
          refused.size += chunk.length;
          if (refused.size > keptBody * 4) fail(refusal());
          return;
        }
        try {
          take(sse.push(chunk));
        } catch (error) {
          fail(error);
        }
      },
      onResponseEnd() {
        clearTimeout(linger);
        if (settled) return;
        if (refused) return settle(refusal());
        try {
          take(sse.end());
        } catch (error) {
          settle(error);
        }
        ended = true;
        if (!waiting) closeByEnd();
      },
      onResponseError(error) {
        clearTimeout(linger);
        if (call.signal.aborted) settle(call.signal.reason);
        else if (refused) settle(refusal());
        else if (reader.complete && !waiting) settle();
        else settle(error);
      },
    });
  });
}
