import type { ToolServerRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { count } from "../../ui/format.ts";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Pager, Table } from "../../ui/table.tsx";
import { ServerDialog } from "./server-dialog.tsx";
import { ServerStatus } from "./server-status.tsx";
import { pageSize, serverToolsQuery, toolServersQuery } from "./tool-server-queries.ts";

export function ToolServersPage() {
  const { page = 1 } = useSearch({ from: "/app/tool-servers" });
  const navigate = useNavigate();
  const [isAdding, setAdding] = useState(false);
  const servers = useQuery(toolServersQuery(page));
  const add = (
    <Button kind="primary" icon={<Plus size={14} />} onClick={() => setAdding(true)}>
      Add a server
    </Button>
  );
  return (
    <Page title="Tool servers" lead="MCP servers whose tools your agents may call." actions={add}>
      <Panel flush={!servers.isError}>
        <Loaded query={servers}>
          {({ mcp_servers, total }) => (
            <>
              <Table
                label="Tool servers"
                rows={mcp_servers}
                keyOf={({ id }) => id}
                columns={[
                  { head: "Name", cell: (server) => <NameOf server={server} /> },
                  { head: "Status", cell: ({ status }) => <ServerStatus status={status} /> },
                  { head: "Tools", align: "right", cell: (server) => <ToolCount server={server} /> },
                ]}
                empty={
                  <Empty title={total > 0 ? "There is nothing on this page" : "No tool servers yet"}>
                    Add the address of an MCP server, then give its tools to an agent.
                  </Empty>
                }
              />
              <Pager
                page={page}
                total={total}
                totalPages={Math.ceil(total / pageSize)}
                onPage={(next) => void navigate({ to: "/tool-servers", search: { page: next } })}
              />
            </>
          )}
        </Loaded>
      </Panel>
      {isAdding && (
        <ServerDialog
          onClose={() => setAdding(false)}
          onSaved={({ id }) => void navigate({ to: "/tool-servers/$serverId", params: { serverId: id } })}
        />
      )}
    </Page>
  );
}

function NameOf({ server: { id, name, url, last_error } }: { server: ToolServerRecord }) {
  return (
    <div className="min-w-0">
      <Link
        to="/tool-servers/$serverId"
        params={{ serverId: id }}
        className="break-all font-medium text-accent hover:underline"
      >
        {name}
      </Link>
      <p className="break-all text-muted text-xs">{url}</p>
      {last_error && <p className="break-words text-bad text-xs">{last_error}</p>}
    </div>
  );
}

/** Asked of the servers that answered last time only: another would be waited for in vain. */
function ToolCount({ server: { id, status } }: { server: ToolServerRecord }) {
  const tools = useQuery({ ...serverToolsQuery(id), enabled: status === "connected" });
  if (tools.data) return count(tools.data.length);
  if (tools.isFetching) return <span className="text-muted">…</span>;
  return (
    <span className="text-muted" title={tools.isError ? tools.error.message : undefined}>
      –
    </span>
  );
}
