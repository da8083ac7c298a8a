import type { ServerToolRecord, ToolServerRecord } from "@gantry/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { TextInput } from "../../ui/field.tsx";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { ToolEntry } from "./tool-entry.tsx";
import { serverToolsQuery } from "./tool-server-queries.ts";

/** Below this many they are seen at a glance. */
const fewTools = 6;

export function ServerTools({ server }: { server: ToolServerRecord }) {
  const [sought, setSought] = useState("");
  const tools = useQuery(serverToolsQuery(server.id));
  useStatusAnew(server, tools);
  const isLong = (tools.data?.length ?? 0) > fewTools;
  return (
    <Panel
      flush
      title={tools.data ? `Tools (${tools.data.length})` : "Tools"}
      actions={
        isLong && (
          <TextInput
            type="search"
            aria-label="Find a tool"
            placeholder="Find a tool"
            className="max-w-56"
            value={sought}
            onChange={(event) => setSought(event.target.value)}
          />
        )
      }
    >
      {tools.isError && server.status !== "connected" ? (
        // Why is said above.
        <p className="p-4 text-muted">They can be read when the server answers.</p>
      ) : (
        <Loaded query={tools}>{(all) => <ToolList server={server} tools={all} sought={isLong ? sought : ""} />}</Loaded>
      )}
    </Panel>
  );
}

/** The service notes how every call of the server went: what was read before may be of another time. */
function useStatusAnew({ status }: ToolServerRecord, tools: { isError: boolean; isSuccess: boolean }): void {
  const queries = useQueryClient();
  const isNews = status === "connected" ? tools.isError : tools.isSuccess;
  useEffect(() => {
    if (isNews) void queries.invalidateQueries({ queryKey: ["tool-servers"] });
  }, [isNews, queries]);
}

function ToolList({ server, tools, sought }: { server: ToolServerRecord; tools: ServerToolRecord[]; sought: string }) {
  const words = sought.trim().toLowerCase();
  const shown = tools.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(words));
  if (tools.length === 0) return <Empty title="The server offers no tools that an agent can call" />;
  if (shown.length === 0) return <Empty title={`No tool has “${sought.trim()}” in its name or description`} />;
  return (
    <ul>
      {shown.map((tool) => (
        <li key={tool.name} className="border-line border-b last:border-b-0">
          <ToolEntry serverName={server.name} tool={tool} />
        </li>
      ))}
    </ul>
  );
}
