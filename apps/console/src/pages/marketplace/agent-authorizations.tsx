import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { Notice } from "../../ui/notice.tsx";
import { AuthorizeLink } from "../tool-servers/authorize-link.tsx";

/** Tool servers that the agent uses with your own account. Without it, a run goes on without their tools. */
export function AgentAuthorizations({ agentId }: { agentId: string }) {
  const { data = [] } = useQuery({
    queryKey: ["agent-authorizations", agentId],
    queryFn: ({ signal }) => api.agents.authorizations(agentId, { signal }),
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === "authorization_required") ? 5000 : false,
  });
  return data
    .filter(({ status }) => status === "authorization_required")
    .map(({ server_id, server_name, host, authorization_url, last_error }) => (
      <Notice key={server_id} tone="warn" title={`Authorize ${server_name} (${host})`}>
        <p className="mb-2">The agent uses this tool server with your own account there.</p>
        {authorization_url !== undefined && <AuthorizeLink url={authorization_url} />}
        {last_error !== undefined && <p className="wrap-anywhere text-bad text-xs">{last_error}</p>}
      </Notice>
    ));
}
