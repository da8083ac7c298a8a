import type { ToolServerRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useSession } from "../../shell/session.ts";
import { Button } from "../../ui/button.tsx";
import { Notice } from "../../ui/notice.tsx";
import { toast } from "../../ui/toast.ts";
import { AuthorizeLink } from "./authorize-link.tsx";
import { serverToolsQuery } from "./tool-server-queries.ts";

/** For servers with OAuth that you have not authorized. */
export function AuthorizationNotice({ server }: { server: ToolServerRecord }) {
  const queries = useQueryClient();
  const asking = useMutation({
    // The record contains the link afterwards.
    mutationFn: () => api.toolServers.authorize(server.id),
    onSettled: () => queries.invalidateQueries({ queryKey: ["tool-servers"] }),
  });
  const { key } = useSession();
  const isWanting = server.status === "authorization_required" || server.status === "unauthorized";
  if (server.auth?.type !== "oauth" || !isWanting) return null;
  if (key.isPlainMember) {
    return <Notice tone="warn" title="An admin or owner of the team must authorize this server" />;
  }
  return (
    <Notice tone="warn" title="Authorization required">
      <p className="mb-2">
        Sign in at the server and allow Gantry to use it. Users of your agents authorize with accounts of their own.
      </p>
      {server.authorization_url === undefined ? (
        <Button busy={asking.isPending} onClick={() => asking.mutate()}>
          Create authorization link
        </Button>
      ) : (
        <AuthorizeLink url={server.authorization_url} />
      )}
    </Notice>
  );
}

export function ForgetAuthorization({ server }: { server: ToolServerRecord }) {
  const queries = useQueryClient();
  const forgetting = useMutation({
    mutationFn: () => api.toolServers.forgetAuthorization(server.id),
    onSuccess: () => toast("Authorization forgotten"),
    onSettled() {
      queries.removeQueries(serverToolsQuery(server.id));
      return queries.invalidateQueries({ queryKey: ["tool-servers"] });
    },
  });
  if (server.auth?.type !== "oauth" || server.status === "authorization_required") return null;
  return (
    <Button busy={forgetting.isPending} onClick={() => forgetting.mutate()}>
      Forget authorization
    </Button>
  );
}
