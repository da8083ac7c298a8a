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
  attributes: Record<string, string | number | boolean>;
  resource: Record<string, string | number | boolean>;
}

export interface Collector {
  url: string;
  readonly spans: CollectedSpan[];
  /** Raw request bodies. */
  readonly bodies: string[];
  readonly headers: NodeJS.Dict<string | string[]>[];
  /** Statuses of the next answers. Then 200. */
  readonly answers: number[];
  close(): Promise<void>;
}

type Value = { stringValue?: string; intValue?: string; doubleValue?: number; boolValue?: boolean };

/** Collects spans sent as OTLP over HTTP in JSON. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const headers: NodeJS.Dict<string | string[]>[] = [];
  const answers: number[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const status = request.method === "POST" && request.url === "/v1/traces" ? (answers.shift() ?? 200) : 404;
    bodies.push(body);
    headers.push(request.headers);
    if (status === 200) spans.push(...spansOf(JSON.parse(body)));
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
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
        resource: read(resource.attributes),
      })),
    ),
  );
}

function read(attributes: { key: string; value: Value }[]): Record<string, string | number | boolean> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? value.doubleValue ?? Number(value.intValue),
    ]),
  );
}
