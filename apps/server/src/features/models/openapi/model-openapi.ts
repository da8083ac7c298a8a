import type { Model } from "../model.ts";
import { dynamicModels } from "./input-models.ts";
import { errorResponses, type Json } from "./parts.ts";
import { modelPaths } from "./paths.ts";
import { records } from "./records.ts";

/** `baseUrl` is the URL that the reader used. */
export function modelOpenApi(model: Pick<Model, "endpointId" | "manifest">, baseUrl: string): Json {
  const { endpointId, manifest } = model;
  return {
    openapi: "3.1.0",
    info: { title: manifest.title, description: manifest.description, version: "1.0.0", "x-endpoint-id": endpointId },
    servers: [{ url: `${baseUrl}/api/v1/${endpointId}` }],
    paths: modelPaths(manifest),
    components: {
      schemas: { ...dynamicModels(manifest), ...records },
      responses: errorResponses,
      securitySchemes: {
        "X-API-KEY": { type: "apiKey", in: "header", name: "X-API-KEY" },
        APIKeyHeader: {
          type: "apiKey",
          in: "header",
          name: "Authorization",
          description: "The key itself, or Bearer and the key.",
        },
      },
    },
  };
}
