import type { FastifyInstance } from "fastify";
import { prefers } from "../foundation/preferred-type.rules.ts";
import { errorsPage } from "./errors-page.ts";

const manifestSchemaPath = "/docs/manifest.schema.json";

interface DocsPagesDeps {
  version: string;
  hasConsole: boolean;
}

/** Pages without a key: the front page, the error types, and the JSON Schema for editors. */
export async function docsPages(app: FastifyInstance, { version, hasConsole }: DocsPagesDeps): Promise<void> {
  const front = frontPage(version, hasConsole);
  app.get("/", (request, reply) => {
    reply.header("vary", "accept");
    if (hasConsole && prefers(request.headers.accept, "text/html", "text/plain")) return reply.redirect("console/");
    return reply.type("text/plain; charset=utf-8").send(front);
  });
  const errors = errorsPage();
  app.get("/docs/errors", (_request, reply) =>
    reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")
      .header("cache-control", "public, max-age=300")
      .send(errors),
  );
  app.get(manifestSchemaPath, async (request, reply) => {
    const { manifestDocument } = await import("@gantry/wire/openapi");
    return reply
      .type("application/schema+json; charset=utf-8")
      .header("cache-control", "public, max-age=300")
      .send(JSON.stringify(manifestDocument(request.baseUrl + manifestSchemaPath)));
  });
}

/** Shown at the address that the server prints at start. */
export function frontPage(version: string, hasConsole: boolean): string {
  return `Gantry ${version}: one self-hosted service for models and agents.

${hasConsole ? "  /console/                    the console\n" : ""}  /docs/errors                 error types
  /docs/manifest.schema.json   JSON Schema of a model manifest
  /api/v1                      list of models (key required)
  /api/v1/openapi.json         OpenAPI: models (key required)
  /api/v2/openapi.json         OpenAPI: account, keys, usage, files, administration (key required)
  /v1/openapi.json             OpenAPI: agents platform (key required)
  /v1/doors/openapi.json       OpenAPI: routes for OpenAI and Anthropic clients (key required)
  /mcp                         MCP server: models and agents as tools (key required)
  /healthz                     health check; /readyz for readiness

Send your key in the header X-API-KEY.
`;
}
