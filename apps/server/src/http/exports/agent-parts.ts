import type { Agents } from "../../features/agents/index.ts";
import type { IdpConnector } from "../../features/connectors/idp/index.ts";
import type { Drives } from "../../features/drives/index.ts";
import { type ExportPart, everyEntry, unlessGone } from "../../features/exports/index.ts";
import type { Knowledge } from "../../features/knowledge/index.ts";
import type { Marketplace } from "../../features/marketplace/index.ts";
import type { Threads } from "../../features/runs/index.ts";
import type { Schedules } from "../../features/schedules/index.ts";
import type { ToolServers } from "../../features/tool-servers/index.ts";
import type { Triggers } from "../../features/triggers/index.ts";
import { agentRecord, revisionRecord } from "../agents-api/agent-records.ts";
import { driveFileRecord } from "../agents-api/drive-file-routes.ts";
import { driveRecord } from "../agents-api/drive-routes.ts";
import { connectorRecord } from "../agents-api/idp-routes.ts";
import { scheduleRecord } from "../agents-api/schedule-routes.ts";
import { threadRecord } from "../agents-api/thread-routes.ts";
import { toolServerRecord } from "../agents-api/tool-server-routes.ts";
import { triggerDeliveryRecord, triggerRecord } from "../agents-api/trigger-routes.ts";

export interface AgentPartDeps {
  agents: Agents;
  marketplace: Pick<Marketplace, "activityOf">;
  threads: Pick<Threads, "list">;
  schedules: Pick<Schedules, "list">;
  triggers: Pick<Triggers, "listTriggers" | "readDeliveries">;
  toolServers: Pick<ToolServers, "list">;
  idp: Pick<IdpConnector, "read">;
  drives: Pick<Drives, "listDrives" | "exportFiles">;
  knowledge: Pick<Knowledge, "readIndexes">;
}

const none = { entries: [], total: 0 };
const byId = ({ id }: { id: string }) => id;

/** What was set up for agents. */
export function agentParts(deps: AgentPartDeps): ExportPart[] {
  const { agents, marketplace, threads, schedules, triggers, toolServers, idp, drives, knowledge } = deps;
  return [
    {
      lists: {
        agents: "Agents of the account.",
        agent_revisions: "All revisions of the agents, also of deleted agents.",
        tool_servers: "Tool servers, without credentials.",
        connectors: "The identity connector: domain and last characters of the token.",
      },
      async *read({ caller }) {
        for await (const own of everyEntry(
          (page) => agents.listAgents(caller, page),
          ({ agent }) => agent.id,
        )) {
          const activityOf = await marketplace.activityOf([own.agent.id]);
          yield { list: "agents", record: agentRecord(own, activityOf(own.agent.id)) };
        }
        for await (const revision of agents.exportRevisions(caller)) {
          yield { list: "agent_revisions", record: revisionRecord(revision) };
        }
        const servers = everyEntry(async (page) => {
          const { servers: entries, total } = await toolServers.list(caller.userId, page);
          return { entries, total };
        }, byId);
        for await (const server of servers) yield { list: "tool_servers", record: toolServerRecord(server) };
        const connector = await unlessGone(idp.read(caller.userId));
        if (connector) yield { list: "connectors", record: connectorRecord(connector) };
      },
    },
    {
      lists: {
        threads: "Conversations with agents. The runs have their turns.",
        schedules: "Schedules.",
        triggers: "Triggers, without their secret addresses.",
        trigger_deliveries: "What triggers have received.",
      },
      async *read({ caller }) {
        for await (const thread of everyEntry((page) => threads.list(caller, page), byId)) {
          yield { list: "threads", record: threadRecord(thread) };
        }
        for await (const schedule of everyEntry((page) => schedules.list(caller, page), byId)) {
          yield { list: "schedules", record: scheduleRecord(schedule) };
        }
        for await (const trigger of everyEntry((page) => triggers.listTriggers(caller, page), byId)) {
          yield { list: "triggers", record: triggerRecord(trigger) };
          const deliveries = everyEntry(
            async (page) => (await unlessGone(triggers.readDeliveries(caller, trigger.id, page))) ?? none,
            byId,
          );
          for await (const delivery of deliveries) {
            const record = { trigger_id: trigger.id, ...triggerDeliveryRecord(delivery) };
            yield { list: "trigger_deliveries", record };
          }
        }
      },
    },
    {
      lists: {
        drives: "Drives.",
        drive_files: "Files of the drives. The bytes are in drives/.",
      },
      async *read({ caller: { userId }, withFiles }) {
        const every = everyEntry(async (page) => {
          const { drives: entries, total } = await drives.listDrives(userId, page);
          return { entries, total };
        }, byId);
        for await (const drive of every) {
          const indexes = await knowledge.readIndexes(userId, [drive.id]);
          yield { list: "drives", record: driveRecord(drive, indexes.get(drive.id)) };
          for await (const { file, open } of drives.exportFiles(userId, drive.id)) {
            yield { list: "drive_files", record: { drive_id: drive.id, ...driveFileRecord(file) } };
            if (withFiles) yield { path: ["drives", drive.id, ...file.path.split("/").filter(Boolean)], open };
          }
        }
      },
    },
  ];
}
