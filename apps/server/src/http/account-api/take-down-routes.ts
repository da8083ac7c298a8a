import { type TakeDownRecord, takeDownBody } from "@gantry/wire";
import type { FastifyInstance } from "fastify";
import type { Agents, AgentWithRevision } from "../../features/agents/index.ts";
import type { Marketplace } from "../../features/marketplace/index.ts";
import type { Model, Models } from "../../features/models/index.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { acceptEmptyBodies } from "../foundation/accept-empty-bodies.ts";
import { listEnvelope, readPageQuery } from "../foundation/page-query.ts";

interface OfAgent {
  Params: { id: string };
}
interface OfModel {
  Params: { owner: string; name: string };
}

export interface TakeDownDeps {
  agents: Pick<Agents, "takeDownAgent" | "restoreAgent">;
  models: Pick<Models, "takeDownModel" | "restoreTakenDownModel">;
  marketplace: Pick<Marketplace, "listTakeDowns">;
}

const agentAt = "/api/v2/admin/agents/:id";
const modelAt = "/api/v2/admin/models/:owner/:name";

/** Takes agents and models off the marketplace and the public list. For admins. Register it as a plugin. */
export async function takeDownRoutes(
  app: FastifyInstance,
  { agents, models, marketplace }: TakeDownDeps,
): Promise<void> {
  acceptEmptyBodies(app);
  const reasonIn = (body: unknown) => parseOrThrow(takeDownBody, body ?? {}, ["body"]).reason;

  app.get("/api/v2/admin/take-downs", async (request) => {
    const page = readPageQuery(request.query);
    const { entries, total } = await marketplace.listTakeDowns(page);
    const records = entries.map(({ kind, id, owner, name, takenDown }) =>
      record({ kind, id, owner, name, visibility: "private", takenDown }),
    );
    return listEnvelope(records, page, total);
  });

  app.post<OfAgent>(`${agentAt}/take-down`, async ({ params, body }) =>
    ofAgent(await agents.takeDownAgent(params.id, reasonIn(body))),
  );
  app.post<OfAgent>(`${agentAt}/restore`, async ({ params }) => ofAgent(await agents.restoreAgent(params.id)));

  app.post<OfModel>(`${modelAt}/take-down`, async ({ params: { owner, name }, body }) =>
    ofModel(await models.takeDownModel(`${owner}/${name}`, reasonIn(body))),
  );
  app.post<OfModel>(`${modelAt}/restore`, async ({ params: { owner, name } }) =>
    ofModel(await models.restoreTakenDownModel(`${owner}/${name}`)),
  );
}

type Found = Omit<TakeDownRecord, "taken_down"> & { takenDown: TakeDownRecord["taken_down"] };

/** Of the stored mark only what clients may read. */
function record({ takenDown, ...found }: Found): TakeDownRecord {
  return { ...found, taken_down: takenDown && { at: takenDown.at, reason: takenDown.reason } };
}

function ofAgent({ agent, revision }: AgentWithRevision): TakeDownRecord {
  const { id, owner, visibility, takenDown } = agent;
  return record({ kind: "agent", id, owner, name: revision.snapshot.name, visibility, takenDown });
}

function ofModel({ endpointId, owner, manifest, takenDown }: Model): TakeDownRecord {
  const { title, visibility } = manifest;
  return record({ kind: "model", id: endpointId, owner, name: title, visibility, takenDown });
}
