import type { AnswerOf, modelOperations } from "@gantry/wire/operations";
import { type Caller, isConfined } from "../../features/accounts/index.ts";
import { highestPricing } from "../../features/billing/index.ts";
import { isAdmin, type Model } from "../../features/models/index.ts";

const routes = {
  predict: "/predict",
  stream: "/predict/stream/",
  async: "/predict/async/",
  result: "/predict/async/result/",
  cancel: "/predict/cancel/",
  flow: "/flow",
  upload_url: "/upload_url",
  upload_file: "/upload_file",
  download_s3_url: "/download_s3_url",
  openapi: "/openapi.json",
};

type ModelCard = AnswerOf<typeof modelOperations.readModel>;

/** A model as the API shows it. Only the owner and admins see the backend; a key limited to models does not. */
export function modelCard(model: Model, caller: Caller, baseUrl: string): ModelCard {
  const { backend, backends, ...manifest } = model.manifest;
  const seesBackends = isAdmin(caller) || (model.ownerId === caller.userId && !isConfined(caller));
  const address = `${baseUrl}/api/v1/${model.endpointId}`;
  return {
    endpoint_id: model.endpointId,
    owner: model.owner,
    name: model.name,
    ...manifest,
    pricing: seesBackends ? manifest.pricing : highestPricing(model.manifest),
    ...(seesBackends && {
      // A manifest types a backend as any string.
      ...(backend && { backend: backend as ModelCard["backend"] }),
      ...(backends && { backends: backends as ModelCard["backends"] }),
      ...(model.takenDown && { taken_down: { at: model.takenDown.at, reason: model.takenDown.reason } }),
    }),
    version: model.version,
    created_at: model.createdAt.toISOString(),
    updated_at: model.updatedAt.toISOString(),
    urls: Object.fromEntries(Object.entries(routes).map(([name, path]) => [name, address + path])),
  };
}
