import type { RunRecord } from "@gantry/sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot, Pencil } from "lucide-react";
import { api } from "../../api/client.ts";
import { buttonClass } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { toast } from "../../ui/toast.ts";
import { agentQuery, isOwn } from "../agents/agent-queries.ts";
import { RunAgain } from "./run-again.tsx";
import { isOver } from "./run-status.tsx";

export function RunActions({ run }: { run: RunRecord }) {
  const queries = useQueryClient();
  const cancelling = useMutation({
    mutationFn: () => api.runs.cancel(run.id),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["runs"] });
      await queries.invalidateQueries({ queryKey: ["confirmations"] });
      toast("Run cancelled", "plain");
    },
  });
  // Past runs of a deleted agent stay; it can be neither edited nor run.
  const agent = useQuery(agentQuery(run.agent_id)).data;
  const isMine = run.usage !== undefined;
  return (
    <>
      {isMine && !isOver(run) && (
        <ConfirmButton
          label="Cancel run"
          question="Cancel this run?"
          cancel="Keep running"
          explanation="The run and its sub-agents stop immediately. Completed actions are not undone, and charges so far are kept."
          onConfirm={() => cancelling.mutateAsync()}
        />
      )}
      {agent &&
        (isOwn(agent) ? (
          <Link to="/agents/$agentId" params={{ agentId: agent.id }} search={{ tab: "edit" }} className={buttonClass()}>
            <Pencil size={14} /> Edit agent
          </Link>
        ) : (
          <Link to="/agents/$agentId" params={{ agentId: run.agent_id }} className={buttonClass()}>
            <Bot size={14} /> View agent
          </Link>
        ))}
      {agent && isMine && <RunAgain run={run} />}
    </>
  );
}
