import type { ServerToolRecord, ToolServerRecord } from "@gantry/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { TextInput } from "../../ui/field.tsx";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { ToolEntry } from "./tool-entry.tsx";
import { serverToolsQuery } from "./tool-server-queries.ts";

/** Longer lists get a search field. */
const maxWithoutSearch = 6;

export function ServerTools({ server }: { server: ToolServerRecord }) {
  const [search, setSearch] = useState("");
  const tools = useQuery(serverToolsQuery(server.id));
  useFreshStatus(server, tools);
  const isLong = (tools.data?.length ?? 0) > maxWithoutSearch;
  return (
    <Panel
      flush
      title={tools.data ? `Tools (${tools.data.length})` : "Tools"}
      actions={
        isLong && (
          <TextInput
            type="search"
            aria-label="Search tools"
            placeholder="Search tools"
            className="max-w-56"
            value={search}
            onChange={(event) => setSearch(event.target.value)}
          />
        )
      }
    >
      {tools.isError && server.status !== "connected" ? (
        // The details above show the reason.
        <p className="p-4 text-muted">Tools appear once the server responds.</p>
      ) : (
        <Loaded query={tools}>{(all) => <ToolList server={server} tools={all} search={isLong ? search : ""} />}</Loaded>
      )}
    </Panel>
  );
}

/** The API updates the status with every call to the server, so a contradicting record is outdated. */
function useFreshStatus({ status }: ToolServerRecord, tools: { isError: boolean; isSuccess: boolean }): void {
  const queries = useQueryClient();
  const isOutdated = status === "connected" ? tools.isError : tools.isSuccess;
  useEffect(() => {
    if (isOutdated) void queries.invalidateQueries({ queryKey: ["tool-servers"] });
  }, [isOutdated, queries]);
}

function ToolList({ server, tools, search }: { server: ToolServerRecord; tools: ServerToolRecord[]; search: string }) {
  const text = search.trim().toLowerCase();
  const shown = tools.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(text));
  if (tools.length === 0) return <Empty title="This server has no tools that agents can call" />;
  if (shown.length === 0) return <Empty title={`No tools match “${search.trim()}”`} />;
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
