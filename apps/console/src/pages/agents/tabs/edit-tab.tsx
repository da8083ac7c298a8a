import type { AgentRecord, CreateRunBody } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { toast } from "../../../ui/toast.ts";
import { fixFieldsFirst } from "../draft-run/fix-fields-first.ts";
import { TestPanel } from "../draft-run/test-panel.tsx";
import { type AgentDraft, changesOf, draftOf } from "../form/agent-draft.rules.ts";
import { AgentForm } from "../form/agent-form.tsx";
import { draftFaults } from "../form/draft-faults.rules.ts";
import { useAgentDraft } from "../form/use-agent-draft.ts";

export function EditTab({ agent }: { agent: AgentRecord }) {
  const { test } = useSearch({ from: "/app/agents/$agentId" });
  const navigate = useNavigate({ from: "/agents/$agentId" });
  const queries = useQueryClient();
  const saved = draftOf(agent);
  const [hasTried, setTried] = useState(false);
  const saving = useMutation({
    meta: { showsFailure: true },
    mutationFn: (wanted: AgentDraft) => api.agents.update(agent.id, changesOf(saved, wanted) ?? {}),
    async onSuccess() {
      setTried(false);
      await queries.invalidateQueries({ queryKey: ["agents"] });
    },
  });
  const edited = useAgentDraft(saved, saving.variables);
  const { draft, isDirty } = edited;
  const isReady = () => {
    setTried(true);
    return Object.keys(draftFaults(draft, true)).length === 0;
  };
  const save = () => {
    if (isReady()) saving.mutate(draft, { onSuccess: () => toast("Draft saved. Publish it to use it in runs.") });
  };
  const saveFirst = async (wanted: CreateRunBody): Promise<CreateRunBody> => {
    if (isDirty && !isReady()) throw fixFieldsFirst();
    const kept = isDirty ? await saving.mutateAsync(draft).catch(() => undefined) : agent;
    if (!kept) throw fixFieldsFirst();
    return { ...wanted, revision_id: kept.latest_revision_id };
  };
  return (
    <AgentForm
      edited={edited}
      agentId={agent.id}
      label="Save draft"
      busy={saving.isPending}
      error={saving.error}
      sent={saving.variables}
      hasTried={hasTried}
      onSubmit={save}
      aside={
        <TestPanel
          agentId={agent.id}
          schema={draft.input_schema}
          isDirty={isDirty}
          prepare={saveFirst}
          onStarted={(id) => navigate({ search: { tab: "edit", test: id }, replace: true, resetScroll: false })}
          runId={test}
        />
      }
    />
  );
}
