import { type PlanRecord, putPlanBody } from "@gantry/wire";
import type { FastifyInstance } from "fastify";
import type { Plan } from "../../features/accounts/index.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { listEnvelope, readPageQuery } from "../foundation/page-query.ts";
import type { RouteDeps } from "./deps.ts";

interface WithName {
  Params: { name: string };
}

/** What users may do at most. */
export function planRoutes(app: FastifyInstance, { accounts }: RouteDeps): void {
  app.get("/api/v2/admin/plans", async (request) => {
    const page = readPageQuery(request.query);
    const { entries, total } = await accounts.listPlans(page);
    return listEnvelope(entries.map(toWire), page, total);
  });

  app.put<WithName>("/api/v2/admin/plans/:name", async (request, reply) => {
    const { body = {} } = request;
    const limits = parseOrThrow(putPlanBody, body, ["body"]);
    const { plan, created } = await accounts.putPlan(request.params.name, limits);
    return reply.code(created ? 201 : 200).send(toWire(plan));
  });

  app.delete<WithName>("/api/v2/admin/plans/:name", async (request, reply) => {
    await accounts.deletePlan(request.params.name);
    return reply.code(204).send();
  });
}

function toWire({ name, requestsPerMinute, parallel, storageBytes, users }: Plan): PlanRecord {
  return { name, requests_per_minute: requestsPerMinute, parallel, storage_bytes: storageBytes, users };
}
