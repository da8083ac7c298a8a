import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useSession } from "../../shell/session.ts";
import { leave } from "../../shell/session-watch.ts";
import { DeleteAccountButton } from "../../ui/delete-account-button.tsx";
import { Panel } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";

export function DeleteOwnAccount() {
  const { username, teamRole } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = async () => {
    await api.account.delete({ username });
    await leave(queries);
    await navigate({ to: "/sign-in" });
    toast("Your account is being deleted");
  };
  // While it acts for a team, a person deletes nothing of its own.
  if (teamRole) return null;
  return (
    <Panel title="Account">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-prose text-muted">
          Deletes {username} with everything that it stored. Teams of which you are the last owner need another owner
          first.
        </p>
        <DeleteAccountButton username={username} question={`Delete your account ${username}?`} onDelete={remove} />
      </div>
    </Panel>
  );
}
