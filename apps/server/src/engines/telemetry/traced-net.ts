import { type Net, NetError, type NetHandler, type NetRequest } from "../net/net.ts";
import type { Span, SpanOptions, Telemetry } from "./telemetry.ts";

/**
 * Passes the trace on with outgoing calls, and records a span for each. A span has the server and the outcome, but not the
 * path or the query, which may contain credentials.
 */
export function traceNet(net: Net, telemetry: Telemetry): Net {
  function withTrace<T extends NetRequest>(call: T): T {
    const traceparent = telemetry.traceparent();
    if (traceparent === undefined) return call;
    const state = telemetry.tracestate();
    // Headers set by the caller stay, for example those of a webhook.
    const own = Object.keys(call.headers ?? {}).some((name) => name.toLowerCase() === "traceparent");
    if (own) return call;
    return { ...call, headers: { ...call.headers, traceparent, ...(state !== undefined && { tracestate: state }) } };
  }

  return {
    request(call) {
      if (telemetry.traceparent() === undefined) return net.request(call);
      return telemetry.inSpan(
        () => describe(call),
        async (span) => {
          const answer = await net.request(withTrace(call)).catch((error: unknown) => failed(span, error));
          noteStatus(span, answer.status);
          return answer;
        },
      );
    },
    dispatch(call, handler) {
      if (telemetry.traceparent() === undefined) return net.dispatch(call, handler);
      // The span ends with the exchange, after this call returns.
      void telemetry.inSpan(
        () => describe(call),
        (span) => new Promise<void>((resolve) => net.dispatch(withTrace(call), watched(handler, span, resolve))),
      );
    },
    download: (url, options) => net.download(url, options),
    close: () => net.close(),
  };
}

function describe({ url, method = "GET" }: NetRequest): SpanOptions {
  const address = typeof url === "string" ? URL.parse(url) : url;
  return {
    name: method,
    kind: "client",
    attributes: {
      "http.request.method": method,
      "server.address": address?.hostname,
      "server.port": Number(address?.port || (address?.protocol === "https:" ? 443 : 80)),
    },
  };
}

function noteStatus(span: Span, status: number): void {
  span.set({ "http.response.status_code": status });
  if (status >= 400) span.fail(String(status));
}

function failed(span: Span, error: unknown): never {
  if (error instanceof NetError) span.fail(error.reason);
  throw error;
}

function watched(handler: NetHandler, span: Span, over: () => void): NetHandler {
  return {
    onResponseStart(control, status, headers) {
      noteStatus(span, status);
      handler.onResponseStart(control, status, headers);
    },
    onResponseData: (control, chunk) => handler.onResponseData(control, chunk),
    onResponseEnd() {
      over();
      handler.onResponseEnd();
    },
    onResponseError(error) {
      span.fail(error instanceof NetError ? error.reason : "aborted");
      over();
      handler.onResponseError(error);
    },
  };
}
