import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import { fault } from "../../kernel/errors.ts";
import { presentedKey } from "../foundation/credentials.ts";
import { pathOf } from "../foundation/request-line.ts";

export interface MetricsDeps {
  exposition(): Promise<string>;
  callerOf(request: FastifyRequest): Promise<Caller>;
  /** GANTRY_METRICS_OPEN: anyone who reaches the port may read. */
  isOpen: boolean;
  /** GANTRY_METRICS_KEY: opens only this route. */
  key: string | undefined;
}

/** For Prometheus. The metrics show turnover and traffic of all users, so only the operator may read them. */
export async function metricsRoute(app: FastifyInstance, deps: MetricsDeps): Promise<void> {
  app.get("/metrics", async (request, reply) => {
    // A proxy that blocks this path compares it literally, while the router also accepts /%6detrics.
    if (!["/metrics", "/metrics/"].includes(pathOf(request.url))) throw fault("not_found", "Not found");
    await allow(request);
    return reply
      .header("cache-control", "no-store")
      .type("text/plain; version=0.0.4; charset=utf-8")
      .send(await deps.exposition());
  });

  async function allow(request: FastifyRequest): Promise<void> {
    if (deps.isOpen || isKey(presentedKey(request.headers), deps.key)) return;
    await deps.callerOf(request);
  }
}

function isKey(presented: string | undefined, key: string | undefined): boolean {
  if (presented === undefined || key === undefined) return false;
  return timingSafeEqual(digest(presented), digest(key));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
