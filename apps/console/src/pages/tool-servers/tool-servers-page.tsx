import type { ToolServerRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useSession } from "../../shell/session.ts";
import { Button } from "../../ui/button.tsx";
import { count } from "../../ui/format.ts";
import { RowLink } from "../../ui/link.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { ServerDialog } from "./server-dialog.tsx";
import { ServerStatus } from "./server-status.tsx";
import { serverToolsQuery, toolServersQuery } from "./tool-server-queries.ts";

const columns: readonly Column<ToolServerRecord>[] = [
  { head: "Name", cell: (server) => <NameOf server={server} /> },
  { head: "Status", cell: ({ status }) => <ServerStatus status={status} /> },
  { head: "Tools", align: "right", cell: (server) => <ToolCount server={server} /> },
];

export function ToolServersPage() {
  const { page = 1 } = useSearch({ from: "/app/tool-servers" });
  const navigate = useNavigate();
  const [isAdding, setAdding] = useState(false);
  const servers = useQuery(toolServersQuery(page));
  const { key } = useSession();
  const add = !key.isPlainMember && (
    <Button kind="primary" icon={<Plus size={14} />} onClick={() => setAdding(true)}>
      Connect server
    </Button>
  );
  return (
    <Page title="Tool servers" lead="MCP servers whose tools your agents can call." actions={add}>
      <Panel flush>
        <PagedTable
          label="Tool servers"
          query={servers}
          keyOf={({ id }) => id}
          columns={columns}
          onPage={(next, how) => void navigate({ to: "/tool-servers", search: { page: next }, ...how })}
          empty={
            <Empty title="No tool servers yet">Connect an MCP server, then give an agent access to its tools.</Empty>
          }
        />
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
      <RowLink to="/tool-servers/$serverId" params={{ serverId: id }} className="break-all">
        {name}
      </RowLink>
      <p className="break-all text-muted text-xs">{url}</p>
      {last_error && <p className="wrap-anywhere text-bad text-xs">{last_error}</p>}
    </div>
  );
}

/** Skips servers that did not respond last time, because waiting for them is slow. */
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
