import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { actingTeam, switchTo } from "../../api/acting-team.ts";
import { api } from "../../api/client.ts";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { toast } from "../../ui/toast.ts";

export function RemoveMember({ team, member, isSelf }: { team: string; member: string; isSelf: boolean }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const removing = useMutation({
    mutationFn: () => api.teams.removeMember(team, member),
    async onSuccess() {
      if (isSelf && actingTeam() === team) return switchTo(undefined);
      toast(isSelf ? `You left ${team}` : `${member} removed from ${team}`);
      if (isSelf) await navigate({ to: "/teams" });
      await queries.invalidateQueries({ queryKey: ["teams"] });
    },
  });
  const label = isSelf ? "Leave" : "Remove";
  return (
    <ConfirmButton
      label={label}
      subject={isSelf ? team : member}
      quiet
      question={isSelf ? `Leave ${team}?` : `Remove ${member} from ${team}?`}
      explanation={`${isSelf ? "Your" : "Their"} keys of the team stop working immediately, and schedules that use them pause.`}
      onConfirm={() => removing.mutateAsync()}
    />
  );
}
