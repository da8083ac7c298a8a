export function frontPage(version: string, hasConsole: boolean): string {
  return `Gantry ${version}: one self-hosted service for models and agents.

${hasConsole ? "  /console/                    the console\n" : ""}  /docs/errors                 all error types
  /docs/manifest.schema.json   JSON Schema of manifests
  /api/v1                      models (needs a key)
  /api/v1/openapi.json         OpenAPI: models (needs a key)
  /api/v2/openapi.json         OpenAPI: account and administration (needs a key)
  /v1/openapi.json             OpenAPI: agents (needs a key)
  /mcp                         models and agents as tools for MCP clients (needs a key)
  /healthz                     whether the server is up; /readyz: whether it is ready

Send your key in the header X-API-KEY.
`;
}
