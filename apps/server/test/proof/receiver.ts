import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  /** The distinct `webhook-id`s received for one prediction. */
  ids: Set<string>;
  times: number;
  /** The last one received. */
  body: string;
  headers: Record<string, string>;
}

export interface Receiver {
  url: string;
  /** By prediction id. */
  received: Map<string, Received>;
  close(): Promise<void>;
}

/** A receiver of webhooks. `isUnwilling` chooses deliveries to answer with 500, which must then be retried. */
export async function startReceiver(isUnwilling: (times: number) => boolean): Promise<Receiver> {
  const received = new Map<string, Received>();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { prediction_id: id } = JSON.parse(body);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const known = received.get(id) ?? { ids: new Set(), times: 0, body, headers };
    received.set(id, known);
    known.ids.add(headers["webhook-id"] ?? "");
    known.times++;
    Object.assign(known, { body, headers });
    response.writeHead(isUnwilling(known.times) ? 500 : 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 1024, resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
