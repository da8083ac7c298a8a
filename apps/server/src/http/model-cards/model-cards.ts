import type { FastifyInstance } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import { type Models, maxManifestBytes, modelOpenApi, projectNotFound } from "../../features/models/index.ts";
import { acceptEmptyBodies } from "../foundation/accept-empty-bodies.ts";
import { listEnvelope } from "../foundation/page-query.ts";
import { requireCaller } from "../foundation/require-caller.ts";
import { modelCard } from "./card.ts";
import { readListQuery } from "./list-query.ts";

export interface ModelCardsDeps {
  models: Models;
  authenticate(presented: string): Promise<Caller>;
  version: string;
}

interface OfModel {
  Params: { owner: string; model: string };
}

/** JSON may be written with white space; the manifest itself is measured without. */
const bodyLimit = maxManifestBytes * 4;

/** The cards of the models: the list, one, its schema document, and making, changing, retiring and restoring it. */
export async function modelCards(app: FastifyInstance, deps: ModelCardsDeps): Promise<void> {
  const { models, authenticate, version } = deps;
  const callerOf = requireCaller(authenticate);
  // Before the body is read: whoever has no key sends nothing that is looked at.
  app.addHook("onRequest", async (request) => {
    await callerOf(request);
  });
  app.unreadableAddresses.set("/api/v1", async (request) => {
    await callerOf(request);
    throw projectNotFound();
  });
  acceptEmptyBodies(app);

  app.get("/api/v1", async (request) => {
    const caller = await callerOf(request);
    const query = readListQuery(request.query);
    const { entries, total } = await models.listModels(caller, query);
    const cards = entries.map((model) => modelCard(model, caller, request.baseUrl));
    return listEnvelope(cards, query, total);
  });

  // The document is loaded when somebody wants it, not at the start.
  app.get("/api/v1/openapi.json", async (request) => {
    const { modelsDocument } = await import("@gantry/wire/openapi");
    return modelsDocument(request.baseUrl, version);
  });

  app.get<OfModel>("/api/v1/:owner/:model", async (request) => {
    const caller = await callerOf(request);
    const model = await models.resolveForRead(caller, request.params.owner, request.params.model);
    return modelCard(model, caller, request.baseUrl);
  });

  app.get<OfModel>("/api/v1/:owner/:model/openapi.json", async (request) => {
    const caller = await callerOf(request);
    const model = await models.resolveForRead(caller, request.params.owner, request.params.model);
    return modelOpenApi(model, request.baseUrl);
  });

  app.put<OfModel>("/api/v1/:owner/:model", { bodyLimit }, async (request, reply) => {
    const caller = await callerOf(request);
    const { owner, model: name } = request.params;
    const { model, created } = await models.putModel(caller, owner, name, request.body);
    return reply.code(created ? 201 : 200).send(modelCard(model, caller, request.baseUrl));
  });

  app.patch<OfModel>("/api/v1/:owner/:model", { bodyLimit }, async (request) => {
    const caller = await callerOf(request);
    const { owner, model: name } = request.params;
    return modelCard(await models.patchModel(caller, owner, name, request.body), caller, request.baseUrl);
  });

  app.delete<OfModel>("/api/v1/:owner/:model", async (request, reply) => {
    const caller = await callerOf(request);
    await models.deleteModel(caller, request.params.owner, request.params.model);
    return reply.code(204).send();
  });

  app.post<OfModel>("/api/v1/:owner/:model/restore", async (request, reply) => {
    const caller = await callerOf(request);
    const model = await models.restoreModel(caller, request.params.owner, request.params.model);
    return reply.code(201).send(modelCard(model, caller, request.baseUrl));
  });
}
