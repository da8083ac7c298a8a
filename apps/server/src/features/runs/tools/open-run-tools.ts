import type { AgentTool } from "@gantry/wire";
import type { Net } from "../../../engines/net/net.ts";
import type { Sandbox } from "../../../engines/sandbox/sandbox.ts";
import type { ToolInfo } from "../../agents/index.ts";
import type { IdpConnector } from "../../connectors/idp/index.ts";
import type { Drives } from "../../drives/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import type { ToolServers } from "../../tool-servers/index.ts";
import { driveTool } from "./drive-tools.ts";
import { httpRequestTool } from "./http-request.ts";
import { idpTool } from "./idp-tools.ts";
import { runJavascriptTool } from "./run-javascript.ts";
import { type RunModelDeps, runModelTool } from "./run-model.ts";
import type { RunScope, RunTool } from "./run-tool.ts";
import { serverTools } from "./server-tools.ts";

export interface RunToolsDeps extends Omit<RunModelDeps, "drives"> {
  /** What the tools say of themselves: `agents.tools`. */
  table: ReadonlyMap<string, ToolInfo>;
  net: Net;
  secrets: Pick<Secrets, "reveal">;
  sandbox: Sandbox;
  drives: Drives;
  toolServers: ToolServers;
  idp: IdpConnector;
}

/** Something that the agent is to have and that is not there now. Without `tool`, a whole server. */
export interface MissingTool {
  /** Where it should be; undefined for a server that is gone itself. */
  serverName: string | undefined;
  tool?: string;
  reason: string;
}

export interface RunTools {
  /**
   * The built-in and connector tools that the agent names, in its order, then those of its servers. Other agents as
   * tools are not among them; `taken` are names that somebody else uses.
   */
  toolsFor(
    scope: RunScope,
    options: { signal: AbortSignal; taken?: ReadonlySet<string> },
  ): Promise<{ tools: RunTool[]; missing: MissingTool[] }>;
}

type Make = (info: ToolInfo, deps: RunToolsDeps, scope: RunScope) => RunTool;

const builtin: Readonly<Record<string, Make>> = {
  http_request: httpRequestTool,
  run_model: runModelTool,
  run_javascript: runJavascriptTool,
  drive_list: driveTool,
  drive_read: driveTool,
  drive_write: driveTool,
  drive_delete: driveTool,
};

const makerOf = (id: string): Make | undefined =>
  Object.hasOwn(builtin, id) ? builtin[id] : id.startsWith("idp_") ? idpTool : undefined;

export function createRunTools(deps: RunToolsDeps): RunTools {
  // Two tables that do not fit together are a mistake in the program, told at start.
  for (const id of deps.table.keys()) if (!makerOf(id)) throw new Error(`nothing executes the tool ${id}`);

  return {
    async toolsFor(scope, { signal, taken: others = new Set() }) {
      const tools: RunTool[] = [];
      const missing: MissingTool[] = [];
      for (const id of scope.snapshot.tools.flatMap(toolId)) {
        const info = deps.table.get(id);
        const make = makerOf(id);
        if (info && make) tools.push(make(info, deps, scope));
        else missing.push({ serverName: "Gantry", tool: id, reason: "There is no such tool any more" });
      }
      const taken = new Set([...others, ...tools.map(({ name }) => name), ...scope.snapshot.tools.flatMap(agentName)]);
      const ofServers = await serverTools(deps.toolServers, scope, { taken, signal });
      return { tools: [...tools, ...ofServers.tools], missing: [...missing, ...ofServers.missing] };
    },
  };
}

function toolId(tool: AgentTool): string[] {
  if (typeof tool === "string") return [tool];
  return tool.type === "tool" ? [tool.id] : [];
}

function agentName(tool: AgentTool): string[] {
  return typeof tool !== "string" && tool.type === "agent" && tool.name !== undefined ? [tool.name] : [];
}
