import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { Page } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";
import { type AgentDraft, emptyDraft } from "./form/agent-draft.rules.ts";
import { AgentForm } from "./form/agent-form.tsx";

export function NewAgentPage() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { model = emptyDraft.model } = useSearch({ from: "/app/agents/new" });
  const creating = useMutation({
    meta: { showsFailure: true },
    mutationFn: (draft: AgentDraft) => api.agents.create(draft),
    async onSuccess({ id }) {
      await queries.invalidateQueries({ queryKey: ["agents"] });
      toast("Draft saved");
      await navigate({ to: "/agents/$agentId", params: { agentId: id } });
    },
  });
  return (
    <Page title="New agent" lead="Saved as a draft first. Test it, then publish it.">
      <AgentForm
        initial={{ ...emptyDraft, model }}
        label="Create agent"
        busy={creating.isPending}
        error={creating.error}
        onSubmit={(draft) => creating.mutate(draft)}
      />
    </Page>
  );
}
