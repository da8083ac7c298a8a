import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { ExportData } from "../../shell/export-data.tsx";
import { useSession } from "../../shell/session.ts";
import { useHasWay } from "../../shell/sign-in-ways.ts";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";
import { ChangePassword } from "./change-password.tsx";
import { DeleteOwnAccount } from "./delete-own-account.tsx";
import { SessionTable } from "./session-table.tsx";

export function SessionsPage() {
  const { page = 1 } = useSearch({ from: "/app/sessions" });
  const navigate = useNavigate({ from: "/sessions" });
  const queries = useQueryClient();
  const { username, key } = useSession();
  const hasPasswords = useHasWay("password");
  const sessions = useQuery({
    queryKey: ["sessions", "own", { page }],
    queryFn: ({ signal }) => api.account.sessions.list({ page, signal }),
    placeholderData: keepPreviousData,
  });
  const ending = useMutation({
    mutationFn: () => api.account.sessions.revokeOthers(),
    async onSuccess() {
      toast("Signed out everywhere else");
      await queries.invalidateQueries({ queryKey: ["sessions"] });
    },
  });
  return (
    <Page
      title="Sessions"
      lead="Where you are signed in to the console. API keys are not affected."
      actions={
        <>
          {!key.isPlainMember && <ExportData username={username} start={(options) => api.account.export(options)} />}
          {hasPasswords && <ChangePassword />}
          <ConfirmButton
            label="Sign out everywhere else"
            question="Sign out everywhere else?"
            explanation="All other browsers have to sign in again. API keys keep working."
            onConfirm={() => ending.mutateAsync()}
          />
        </>
      }
    >
      <Panel flush>
        <SessionTable
          query={sessions}
          revoke={(id) => api.account.sessions.revoke(id)}
          onPage={(to, how) => void navigate({ search: { page: to }, ...how })}
        />
      </Panel>
      <DeleteOwnAccount />
    </Page>
  );
}
