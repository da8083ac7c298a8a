import type { AgentRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Field, Select } from "../../../ui/field.tsx";
import { Loaded, Notice } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { revisionQuery } from "../agent-queries.ts";
import { RunForm } from "../run/run-form.tsx";

export function RunTab({ agent }: { agent: AgentRecord }) {
  const { published_revision_id: published, latest_revision_id: latest } = agent;
  const [chosen, setChosen] = useState<"published" | "draft">("published");
  const hasBoth = published !== null && published !== latest;
  return (
    <Panel title="Start a run">
      <div className="flex max-w-2xl flex-col gap-4">
        {published === null && <Notice>Not published yet. You're testing the draft.</Notice>}
        {hasBoth && (
          <Field label="Revision" hint="The draft is newer than the published version.">
            {(control) => (
              <Select {...control} value={chosen} onChange={(event) => setChosen(event.target.value as typeof chosen)}>
                <option value="published">Published</option>
                <option value="draft">Draft</option>
              </Select>
            )}
          </Field>
        )}
        {hasBoth && chosen === "published" ? (
          <PublishedForm agentId={agent.id} revisionId={published} />
        ) : (
          <RunForm
            key={latest}
            agent={agent.id}
            schema={agent.input_schema}
            label={published === latest ? "Run" : "Run draft"}
            body={published === latest ? {} : { revision_id: latest }}
          />
        )}
      </div>
    </Panel>
  );
}

/** The published revision may have another input schema than the draft. */
function PublishedForm({ agentId, revisionId }: { agentId: string; revisionId: string }) {
  const revision = useQuery(revisionQuery(agentId, revisionId));
  return (
    <Loaded query={revision}>
      {({ input_schema }) => <RunForm key={revisionId} agent={agentId} schema={input_schema} label="Run" />}
    </Loaded>
  );
}
