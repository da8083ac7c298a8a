import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { Page } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";
import { type AgentDraft, emptyDraft } from "./form/agent-draft.rules.ts";
import { AgentForm } from "./form/agent-form.tsx";

export function NewAgentPage() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const making = useMutation({
    meta: { showsFailure: true },
    mutationFn: (draft: AgentDraft) => api.agents.create(draft),
    async onSuccess({ id, name }) {
      await queries.invalidateQueries({ queryKey: ["agents"] });
      toast(`${name} is made, as a draft`);
      await navigate({ to: "/agents/$agentId", params: { agentId: id } });
    },
  });
  return (
    <Page title="New agent" lead="It is made as a draft: try it, then publish it.">
      <AgentForm
        initial={emptyDraft}
        label="Make the agent"
        busy={making.isPending}
        error={making.error}
        onSubmit={(draft) => making.mutate(draft)}
      />
    </Page>
  );
}
