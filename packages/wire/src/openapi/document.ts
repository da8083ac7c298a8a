import { componentsOf, schemaRef } from "./components.ts";
import { describeOperation } from "./describe-operation.ts";
import type { Api, Json } from "./operation.ts";

/** Builds the document on first use and caches it. */
export function documentOf(api: Api): (baseUrl: string, version: string) => Json {
  let described: Json | undefined;
  return (baseUrl, version) => {
    described ??= describe(api);
    return {
      openapi: "3.1.0",
      info: {
        title: api.title,
        version,
        description: api.description,
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
        "x-stability": api.stability,
      },
      servers: [{ url: baseUrl + api.base }],
      security: [{ "X-API-KEY": [] }, { APIKeyHeader: [] }],
      tags: api.groups.map(({ tag, description }) => ({ name: tag, description })),
      ...described,
    };
  };
}

function describe(api: Api): Json {
  const components = componentsOf(api);
  const paths: Record<string, Record<string, Json>> = {};
  for (const group of api.groups) {
    for (const operation of Object.values(group.operations)) {
      const at = paths[operation.path] ?? {};
      at[operation.method] = describeOperation(api, group, operation, components);
      paths[operation.path] = at;
    }
  }
  return {
    paths,
    components: {
      schemas: { ...components.schemas, ...api.failureSchemas },
      responses: Object.fromEntries(
        Object.values(api.failures).map(({ name, description, schema, headers }) => [
          name,
          { description, ...(headers && { headers }), content: { "application/json": { schema: schemaRef(schema) } } },
        ]),
      ),
      securitySchemes,
    },
  };
}

const securitySchemes: Json = {
  "X-API-KEY": { type: "apiKey", in: "header", name: "X-API-KEY", description: "The API key." },
  APIKeyHeader: {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: "The API key, with or without `Bearer`.",
  },
};
