import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { scopeOf } from "../../features/accounts/index.ts";
import type { UsageRow } from "../../features/billing/index.ts";
import { listEnvelope } from "../foundation/page-query.ts";
import { prefersOverJson } from "../foundation/preferred-type.rules.ts";
import { readDatedListQuery } from "./dated-list-query.ts";
import type { RouteDeps } from "./deps.ts";
import { usageToWire } from "./money-records.ts";
import { csvHeader, csvLines } from "./usage-csv.rules.ts";

/** The caller's ended predictions with their prices: JSON in pages; CSV as the page that is asked for, else as a whole. */
export function usageRoute(app: FastifyInstance, { billing, callerOf }: RouteDeps): void {
  app.get("/api/v2/usage", async (request, reply) => {
    const scope = scopeOf(await callerOf(request));
    const { page, wantsPage, range } = readDatedListQuery(request.query);
    reply.header("vary", "Accept");
    if (!prefersOverJson(request.headers.accept, "text/csv")) {
      const { entries, total } = await billing.listUsage(scope, range, page);
      return listEnvelope(entries.map(usageToWire), page, total);
    }
    const portions = wantsPage
      ? [(await billing.listUsage(scope, range, page)).entries]
      : await billing.exportUsage(scope, range);
    return reply
      .type("text/csv; charset=utf-8; header=present")
      .header("content-disposition", 'attachment; filename="usage.csv"')
      .send(Readable.from(asCsv(portions), { highWaterMark: 1 }));
  });
}

/** A portion is read when the client has taken the one before. */
async function* asCsv(portions: AsyncIterable<UsageRow[]> | Iterable<UsageRow[]>): AsyncGenerator<string> {
  yield csvHeader;
  for await (const rows of portions) if (rows.length > 0) yield csvLines(rows.map(usageToWire));
}
