import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Received } from "../../apps/server/test/proof/receiver.ts";

export interface SoakReceiver {
  url: string;
  /** By prediction id, or by run id and event. */
  received: Map<string, Received>;
  /** While false, every delivery is accepted. */
  isUnreliable: boolean;
  close(): Promise<void>;
}

const slowMs = 3_000;

/** Which webhook fails its first attempt, and how, depends on its id only. */
function mishapOf(id: string): "none" | "error" | "slow" | "cut" {
  const n = createHash("sha256").update(id).digest().readUInt16BE() % 100;
  if (n < 6) return "error";
  if (n < 9) return "slow";
  return n < 12 ? "cut" : "none";
}

/** A receiver of webhooks that fails some first attempts. */
export async function startSoakReceiver(): Promise<SoakReceiver> {
  const received = new Map<string, Received>();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const event = JSON.parse(body);
    const id = event.prediction_id ?? `${event.run.id} ${event.type}`;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const known = received.get(id) ?? { ids: new Set(), times: 0, body, headers };
    received.set(id, known);
    known.ids.add(headers["webhook-id"] ?? "");
    known.times++;
    Object.assign(known, { body, headers });
    const mishap = receiver.isUnreliable && known.times === 1 ? mishapOf(id) : "none";
    if (mishap === "slow") await sleep(slowMs);
    if (mishap === "cut") return void response.destroy();
    response.writeHead(mishap === "error" ? 500 : 204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 1024, resolve));
  const receiver: SoakReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    isUnreliable: true,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return receiver;
}
