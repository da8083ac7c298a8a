import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Panel } from "../../ui/page.tsx";
import { SessionTable } from "../sessions/session-table.tsx";

export function UserSessions({ username }: { username: string }) {
  const [page, setPage] = useState(1);
  const sessions = useQuery({
    queryKey: ["sessions", "of user", { username, page }],
    queryFn: ({ signal }) => api.admin.users.sessions(username, { page, page_size: 10, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Panel title="Sessions" flush>
      <SessionTable query={sessions} revoke={(id) => api.admin.users.revokeSessions(username, id)} onPage={setPage} />
    </Panel>
  );
}
