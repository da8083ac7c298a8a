/** For whoever opens the address that the start prints: what this is, and where to go on. */
export function frontPage(version: string, hasConsole: boolean): string {
  return `Gantry ${version}: one self-hosted service for models and agents.

${hasConsole ? "  /console/                    all of it in a browser\n" : ""}  /docs/errors                 every error type
  /docs/manifest.schema.json   the JSON Schema of a model's manifest
  /api/v1                      the models (with a key)
  /api/v1/openapi.json         the same and how to make your own, described (with a key)
  /api/v2/openapi.json         account, keys, usage, files and administration, described (with a key)
  /v1/openapi.json             the agents platform, described (with a key)
  /mcp                         models and agents as tools, for clients of the Model Context Protocol (with a key)
  /healthz                     whether this server is up; /readyz whether it is ready

A key goes into the header X-API-KEY.
`;
}
