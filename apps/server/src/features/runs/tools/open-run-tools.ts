import type { AgentMemory, AgentTool } from "@gantry/wire";
import type { Documents } from "../../../engines/documents/documents.ts";
import type { Net } from "../../../engines/net/net.ts";
import type { Sandbox } from "../../../engines/sandbox/sandbox.ts";
import { memoryTool, type ToolInfo } from "../../agents/index.ts";
import type { IdpConnector } from "../../connectors/idp/index.ts";
import type { Drives } from "../../drives/index.ts";
import type { DriveSearch } from "../../knowledge/search/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import type { MissingTool, ToolServers } from "../../tool-servers/index.ts";
import { memoryOf, readNotes, updateMemoryTool } from "./agent-memory.ts";
import { driveSearchTool } from "./drive-search.ts";
import { driveTool } from "./drive-tools.ts";
import { httpRequestTool } from "./http-request.ts";
import { idpTool } from "./idp-tools.ts";
import { runJavascriptTool } from "./run-javascript.ts";
import { type RunModelDeps, runModelTool } from "./run-model.ts";
import type { RunScope, RunTool } from "./run-tool.ts";
import { serverTools } from "./server-tools.ts";
import { webFetchTool } from "./web-fetch.ts";
import { type SearchWays, webSearchTool } from "./web-search.ts";

export interface RunToolsDeps extends Omit<RunModelDeps, "drives"> {
  /** Descriptions of the tools: `agents.tools`. */
  table: ReadonlyMap<string, ToolInfo>;
  net: Net;
  secrets: Pick<Secrets, "reveal">;
  sandbox: Sandbox;
  documents: Pick<Documents, "read">;
  search: SearchWays;
  drives: Drives;
  driveSearch: DriveSearch;
  toolServers: ToolServers;
  idp: IdpConnector;
}

export interface RunTools {
  /** Built-in and connector tools of the agent in its order, then tools of its servers, without sub-agents. */
  toolsFor(scope: RunScope, options: { signal: AbortSignal }): Promise<{ tools: RunTool[]; missing: MissingTool[] }>;
  /** The beginning of an agent's notes. */
  readNotes(ownerId: string, memory: AgentMemory): Promise<string>;
}

type Make = (info: ToolInfo, deps: RunToolsDeps, scope: RunScope) => RunTool;

const builtin: Readonly<Record<string, Make>> = {
  http_request: httpRequestTool,
  web_fetch: webFetchTool,
  web_search: webSearchTool,
  run_model: runModelTool,
  run_javascript: runJavascriptTool,
  drive_list: driveTool,
  drive_read: driveTool,
  drive_search: driveSearchTool,
  drive_write: driveTool,
  drive_delete: driveTool,
  [memoryTool]: updateMemoryTool,
};

const makerOf = (id: string): Make | undefined =>
  Object.hasOwn(builtin, id) ? builtin[id] : id.startsWith("idp_") ? idpTool : undefined;

export function createRunTools(deps: RunToolsDeps): RunTools {
  // A bug in the program: the two tables differ.
  for (const id of deps.table.keys()) if (!makerOf(id)) throw new Error(`tool ${id} has no implementation`);

  return {
    async toolsFor(scope, { signal }) {
      const tools: RunTool[] = [];
      const missing: MissingTool[] = [];
      for (const id of toolIds(scope)) {
        const info = deps.table.get(id);
        const make = makerOf(id);
        if (info && make) tools.push(make(info, deps, scope));
        else missing.push({ serverName: "Gantry", tool: id, reason: "The tool no longer exists" });
      }
      const taken = new Set([...tools.map(({ name }) => name), ...scope.snapshot.tools.flatMap(agentName)]);
      const ofServers = await serverTools(deps.toolServers, scope, { taken, signal });
      return { tools: [...tools, ...ofServers.tools], missing: [...missing, ...ofServers.missing] };
    },
    readNotes: (ownerId, memory) => readNotes(deps.drives, ownerId, memory),
  };
}

/** The memory's tool is there with the memory, and only then. */
function toolIds(scope: RunScope): string[] {
  const ids = scope.snapshot.tools.flatMap(toolId);
  if (!memoryOf(scope)) return ids.filter((id) => id !== memoryTool);
  return ids.includes(memoryTool) ? ids : [...ids, memoryTool];
}

function toolId(tool: AgentTool): string[] {
  if (typeof tool === "string") return [tool];
  return tool.type === "tool" ? [tool.id] : [];
}

function agentName(tool: AgentTool): string[] {
  return typeof tool !== "string" && tool.type === "agent" && tool.name !== undefined ? [tool.name] : [];
}
