import type { ToolRecord } from "@gantry/wire";
import type { AgentsRoutes } from "./agents-api.ts";

/** Every tool that an agent can be given. */
export function toolRoutes(tools: ReadonlyMap<string, ToolRecord>): AgentsRoutes {
  const listed = [...tools.values()].map(({ id, description, parameters, kind }) => ({
    id,
    description,
    parameters,
    kind,
  }));
  return (app) => {
    app.get("/tools", async () => ({ tools: listed }));
  };
}
