import { modelOperations } from "@gantry/wire/operations";
import type { FastifyInstance } from "fastify";
import type { Authenticate } from "../../features/accounts/index.ts";
import { isAdmin, type Models, maxManifestBytes, modelOpenApi, projectNotFound } from "../../features/models/index.ts";
import type { Predictions } from "../../features/predictions/index.ts";
import { fault } from "../../kernel/errors.ts";
import { listEnvelope, rangeOf } from "../foundation/page-query.ts";
import { acceptEmptyBodies } from "../foundation/parse-json.ts";
import { requireCaller } from "../foundation/require-caller.ts";
import { route } from "../foundation/route.ts";
import { backendToWire } from "./backend-record.ts";
import { modelCard } from "./card.ts";

export interface ModelCardsDeps {
  models: Models;
  predictions: Pick<Predictions, "backends">;
  authenticate: Authenticate;
  version: string;
}

/** JSON may contain white space; the limit of a manifest applies without it. */
const bodyLimit = maxManifestBytes * 4;

const { listModels, readModel, readModelDocument, putModel, changeModel, deleteModel, restoreModel, listBackends } =
  modelOperations;

/** The list of models, one model with its document, and creating, changing, retiring and restoring it. */
export async function modelCards(
  app: FastifyInstance,
  { models, predictions, authenticate, version }: ModelCardsDeps,
): Promise<void> {
  const identify = requireCaller(authenticate);
  app.unreadableAddresses.set("/api/v1", async (request) => {
    await identify(request);
    throw projectNotFound();
  });
  acceptEmptyBodies(app);

  route(app, listModels, async ({ caller, query, request }) => {
    const { kind, q } = query;
    const { entries, total } = await models.listModels(caller, { kind, q, ...rangeOf(query) });
    const cards = entries.map((model) => modelCard(model, caller, request.baseUrl));
    return listEnvelope(cards, query, total);
  });

  app.get("/api/v1/openapi.json", async (request) => {
    // Loaded on demand: the document is large.
    const { modelsDocument } = await import("@gantry/wire/openapi");
    return modelsDocument(request.baseUrl, version);
  });

  route(app, readModel, async ({ caller, params, request }) => {
    const model = await models.resolveForRead(caller, params.owner, params.model);
    return modelCard(model, caller, request.baseUrl);
  });

  route(app, readModelDocument, async ({ caller, params, request }) => {
    const model = await models.resolveForRead(caller, params.owner, params.model);
    return modelOpenApi(model, request.baseUrl);
  });

  route(app, putModel, { bodyLimit, unchecked: "body" }, async ({ caller, params, body, request, reply }) => {
    const { model, created } = await models.putModel(caller, params.owner, params.model, body);
    if (created) reply.code(201);
    return modelCard(model, caller, request.baseUrl);
  });

  route(app, changeModel, { bodyLimit, unchecked: "body" }, async ({ caller, params, body, request }) =>
    modelCard(await models.patchModel(caller, params.owner, params.model, body), caller, request.baseUrl),
  );

  route(app, deleteModel, async ({ caller, params }) => {
    await models.deleteModel(caller, params.owner, params.model);
  });

  route(app, listBackends, async ({ caller, params, query }) => {
    const model = await models.resolveForRead(caller, params.owner, params.model);
    if (model.ownerId !== caller.userId && !isAdmin(caller)) {
      throw fault("forbidden", "Only the owner of a model or an admin may see its backends");
    }
    const { limit, offset } = rangeOf(query);
    const states = await predictions.backends(model);
    return listEnvelope(states.slice(offset, offset + limit).map(backendToWire), query, states.length);
  });

  route(app, restoreModel, async ({ caller, params, request }) => {
    const model = await models.restoreModel(caller, params.owner, params.model);
    return modelCard(model, caller, request.baseUrl);
  });
}
