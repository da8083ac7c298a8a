import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status?: { code: number };
  attributes: Record<string, string | number | boolean | string[]>;
  resource: Record<string, string | number | boolean>;
}

export interface Collector {
  url: string;
  readonly spans: CollectedSpan[];
  /** Bodies of `/v1/metrics`. */
  readonly metrics: CollectedMetrics[];
  /** Raw request bodies. */
  readonly bodies: string[];
  readonly headers: NodeJS.Dict<string | string[]>[];
  /** Statuses of the next answers. Then 200. */
  readonly answers: number[];
  close(): Promise<void>;
}

export interface CollectedMetrics {
  resourceMetrics: {
    scopeMetrics: {
      metrics: {
        name: string;
        unit: string;
        histogram: {
          aggregationTemporality: number;
          dataPoints: {
            attributes: { key: string; value: Value }[];
            count: string;
            sum: number;
            bucketCounts: string[];
            explicitBounds: number[];
          }[];
        };
      }[];
    }[];
  }[];
}

type Value = {
  stringValue?: string;
  intValue?: string;
  doubleValue?: number;
  boolValue?: boolean;
  arrayValue?: { values: { stringValue: string }[] };
};

/** Collects spans and metrics sent as OTLP over HTTP in JSON, below a path if the collector has one. */
export async function startCollector(path = ""): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const metrics: CollectedMetrics[] = [];
  const bodies: string[] = [];
  const headers: NodeJS.Dict<string | string[]>[] = [];
  const answers: number[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const isKnown = [`${path}/v1/traces`, `${path}/v1/metrics`].includes(request.url ?? "");
    const status = request.method === "POST" && isKnown ? (answers.shift() ?? 200) : 404;
    bodies.push(body);
    headers.push(request.headers);
    if (status === 200 && request.url?.endsWith("/metrics")) metrics.push(JSON.parse(body));
    else if (status === 200) spans.push(...spansOf(JSON.parse(body)));
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    spans,
    metrics,
    bodies,
    headers,
    answers,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function spansOf(request: {
  resourceSpans: {
    resource: { attributes: { key: string; value: Value }[] };
    scopeSpans: { spans: (Omit<CollectedSpan, "attributes"> & { attributes: { key: string; value: Value }[] })[] }[];
  }[];
}): CollectedSpan[] {
  return request.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: read(span.attributes),
        resource: read(resource.attributes) as CollectedSpan["resource"],
      })),
    ),
  );
}

function read(attributes: { key: string; value: Value }[]): CollectedSpan["attributes"] {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ??
        value.boolValue ??
        value.doubleValue ??
        value.arrayValue?.values.map((one) => one.stringValue) ??
        Number(value.intValue),
    ]),
  );
}
