import type { AgentRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../../api/client.ts";
import { toast } from "../../../ui/toast.ts";
import { type AgentDraft, changesOf, draftOf } from "../form/agent-draft.rules.ts";
import { AgentForm } from "../form/agent-form.tsx";

export function EditTab({ agent }: { agent: AgentRecord }) {
  const queries = useQueryClient();
  const before = draftOf(agent);
  const saving = useMutation({
    meta: { showsFailure: true },
    mutationFn: (draft: AgentDraft) => api.agents.update(agent.id, changesOf(before, draft) ?? {}),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["agents"] });
      toast("Draft saved. Publish it to use it in runs.");
    },
  });
  return (
    <AgentForm
      // Resets the form after a save, here or in another tab.
      key={agent.latest_revision_id}
      initial={before}
      agentId={agent.id}
      label="Save draft"
      busy={saving.isPending}
      error={saving.error}
      onSubmit={(draft) => saving.mutate(draft)}
    />
  );
}
