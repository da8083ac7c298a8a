import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Pencil, RefreshCw } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useSession } from "../../shell/session.ts";
import { Button } from "../../ui/button.tsx";
import { DeleteInUseButton } from "../../ui/delete-in-use-button.tsx";
import { Loaded } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";
import { AuthorizationNotice, ForgetAuthorization } from "./server-authorization.tsx";
import { ServerDetails } from "./server-details.tsx";
import { ServerDialog } from "./server-dialog.tsx";
import { ServerTools } from "./server-tools.tsx";
import { serverToolsQuery, toolServerQuery } from "./tool-server-queries.ts";

export function ToolServerPage() {
  const { serverId } = useParams({ from: "/app/tool-servers/$serverId" });
  const server = useQuery(toolServerQuery(serverId));
  const [isEditing, setEditing] = useState(false);
  const { key } = useSession();
  return (
    <Page
      title={server.data?.name ?? "Tool server"}
      lead={
        <Link to="/tool-servers" className="text-accent hover:underline">
          All tool servers
        </Link>
      }
      actions={
        server.data && (
          <>
            <CheckButton serverId={serverId} />
            {!key.isPlainMember && (
              <>
                <ForgetAuthorization server={server.data} />
                <Button icon={<Pencil size={14} />} onClick={() => setEditing(true)}>
                  Edit
                </Button>
                <DeleteServer serverId={serverId} name={server.data.name} />
              </>
            )}
          </>
        )
      }
    >
      <Loaded query={server}>
        {(record) => (
          <>
            <AuthorizationNotice server={record} />
            <ServerDetails server={record} />
            <ServerTools server={record} />
            {isEditing && (
              <ServerDialog server={record} onClose={() => setEditing(false)} onSaved={() => setEditing(false)} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Reading the tools also updates the stored status. */
function CheckButton({ serverId }: { serverId: string }) {
  const queries = useQueryClient();
  const checking = useMutation({
    mutationFn: () => queries.fetchQuery({ ...serverToolsQuery(serverId), staleTime: 0 }),
    onSuccess: (tools) => toast(`Connected: ${tools.length} ${tools.length === 1 ? "tool" : "tools"}`),
    onSettled: () => queries.invalidateQueries({ queryKey: ["tool-servers"] }),
  });
  return (
    <Button icon={<RefreshCw size={14} />} busy={checking.isPending} onClick={() => checking.mutate()}>
      Check now
    </Button>
  );
}

function DeleteServer({ serverId, name }: { serverId: string; name: string }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <DeleteInUseButton
      question={`Delete ${name}?`}
      explanation="Gantry deletes its URL and credentials, and agents can no longer call its tools."
      onDelete={async (force) => {
        await api.toolServers.delete(serverId, { force });
        toast(`${name} deleted`);
        await navigate({ to: "/tool-servers" });
        queries.removeQueries(toolServerQuery(serverId));
        await queries.invalidateQueries({ queryKey: ["tool-servers"] });
      }}
    />
  );
}
