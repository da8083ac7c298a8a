import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { actingTeam, switchTo } from "../../api/acting-team.ts";
import { api } from "../../api/client.ts";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { Panel } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";

export function CloseTeam({ team }: { team: string }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const closing = useMutation({
    mutationFn: () => api.teams.close(team),
    async onSuccess() {
      if (actingTeam() === team) return switchTo(undefined);
      toast(`Team ${team} closed`);
      await navigate({ to: "/teams" });
      await queries.invalidateQueries({ queryKey: ["teams"] });
    },
  });
  return (
    <Panel title="Close team">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-prose text-muted">
          The team's keys stop working, and its models and agents are hidden. The balance must be zero, and nothing may
          run.
        </p>
        <ConfirmButton
          label="Close team"
          question={`Close ${team}?`}
          explanation="Its keys stop working immediately, and members can no longer act for it."
          onConfirm={() => closing.mutateAsync()}
        />
      </div>
    </Panel>
  );
}
