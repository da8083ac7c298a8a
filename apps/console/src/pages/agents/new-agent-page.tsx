import { type AgentCreatedRecord, type AgentSetup, type CreateRunBody, setUpAgent } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { errorText } from "../../ui/error-text.rules.ts";
import { Page } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";
import { TriggerAddress } from "../triggers/trigger-address.tsx";
import { fixFieldsFirst } from "./draft-run/fix-fields-first.ts";
import { TestPanel } from "./draft-run/test-panel.tsx";
import { type AgentDraft, emptyDraft } from "./form/agent-draft.rules.ts";
import { AgentForm } from "./form/agent-form.tsx";
import { draftFaults } from "./form/draft-faults.rules.ts";
import { useAgentDraft } from "./form/use-agent-draft.ts";
import { TemplateCards } from "./templates/template-cards.tsx";
import { setupParts } from "./templates/template-needs.rules.ts";
import { templateOf } from "./templates/templates.ts";

interface Opened {
  agentId: string;
  search: { tab?: "edit"; test?: string };
}

export function NewAgentPage() {
  const { model, template } = useSearch({ from: "/app/agents/new" });
  const { draft = emptyDraft, setup } = templateOf(template) ?? {};
  return (
    <Page wide title="New agent" lead="Saved as a draft first. Test it, then publish it.">
      <TemplateCards chosen={templateOf(template)?.id} />
      {setup && <p className="text-muted">Creating this agent also creates {setupParts(setup).join(", ")}.</p>}
      <NewAgent key={template} initial={model === undefined ? draft : { ...draft, model }} setup={setup} />
    </Page>
  );
}

function NewAgent({ initial, setup }: { initial: AgentDraft; setup: AgentSetup | undefined }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const edited = useAgentDraft(initial);
  const { draft, isDirty } = edited;
  const [hasTried, setTried] = useState(false);
  /** The address of the new trigger is shown before the page of the agent. */
  const [shown, setShown] = useState<Opened & { url: string }>();
  const open = async ({ agentId, search }: Opened) => {
    await queries.invalidateQueries({ queryKey: ["agents"] });
    await navigate({ to: "/agents/$agentId", params: { agentId }, search });
  };
  const creating = useMutation({
    meta: { showsFailure: true },
    mutationFn: async ({
      wanted,
      test,
    }: {
      wanted: AgentDraft;
      test?: (created: AgentCreatedRecord) => Promise<string>;
    }) => {
      const { agent, trigger } = await setUpAgent(api, wanted, setupFor(wanted, setup));
      return { id: agent.id, runId: await test?.(agent), url: trigger?.url };
    },
    async onSuccess({ id, runId, url }, { test }) {
      toast(setup ? "Agent created" : "Draft saved");
      const next: Opened = { agentId: id, search: test ? { tab: "edit", ...(runId && { test: runId }) } : {} };
      if (url === undefined) await open(next);
      else setShown({ ...next, url });
    },
  });
  const isReady = () => {
    setTried(true);
    return Object.keys(draftFaults(draft, true)).length === 0;
  };
  /** The agent stays if its run is refused; the page of the agent offers to try again. */
  const run = async (body: CreateRunBody, idempotencyKey: string) => {
    const test = async ({ id, revision_id }: AgentCreatedRecord) => {
      try {
        return (await api.runs.create(id, { ...body, revision_id }, { idempotencyKey })).id;
      } catch (error) {
        toast(errorText(error), "bad");
        return "";
      }
    };
    const done = isReady() ? await creating.mutateAsync({ wanted: draft, test }).catch(() => undefined) : undefined;
    if (!done) throw fixFieldsFirst();
    return { id: done.runId ?? "" };
  };
  return (
    <>
      <TriggerAddress url={shown?.url} isSigned={false} onClose={() => shown && void open(shown)} />
      <AgentForm
        edited={edited}
        label="Create agent"
        busy={creating.isPending}
        error={creating.error}
        sent={creating.variables?.wanted}
        hasTried={hasTried}
        onSubmit={() => isReady() && creating.mutate({ wanted: draft })}
        aside={
          // The page of the agent shows the run.
          <TestPanel schema={draft.input_schema} isDirty={isDirty} send={run} onStarted={() => undefined} />
        }
      />
    </>
  );
}

/** Drives that were chosen in the form replace those of the template. */
function setupFor({ drives, memory }: AgentDraft, setup: AgentSetup | undefined): AgentSetup {
  if (!setup || (drives.length === 0 && memory === null)) return setup ?? {};
  const { drives: _replaced, memory: _withThem, ...rest } = setup;
  return rest;
}
