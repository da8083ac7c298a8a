import type { AgentCard, AgentRecord, RunRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { useSession } from "../../shell/session.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { money } from "../../ui/format.ts";
import { TextLink } from "../../ui/link.tsx";
import { Loaded } from "../../ui/notice.tsx";
import { agentQuery, isOwn, revisionQuery } from "../agents/agent-queries.ts";
import { RunForm } from "../agents/run/run-form.tsx";
import { versionsFor } from "./run-again.rules.ts";

/** The input of this run, ready to be changed or sent again. */
export function RunAgain({ run }: { run: RunRecord }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button icon={<RotateCw size={14} />} onClick={() => setOpen(true)}>
        Run again
      </Button>
      <Dialog wide open={open} onClose={() => setOpen(false)} title={`Run ${run.agent_name} again`}>
        {open && <Again run={run} />}
      </Dialog>
    </>
  );
}

function Again({ run }: { run: RunRecord }) {
  const agent = useQuery(agentQuery(run.agent_id));
  return (
    <Loaded query={agent}>
      {(found) => (isOwn(found) ? <OwnAgain run={run} agent={found} /> : <OthersAgain run={run} card={found} />)}
    </Loaded>
  );
}

function OwnAgain({ run, agent }: { run: RunRecord; agent: AgentRecord }) {
  const versions = versionsFor(run.revision_id, agent);
  const [chosen, setChosen] = useState(0);
  const version = versions[chosen] ?? versions[0];
  const revision = useQuery({ ...revisionQuery(agent.id, version?.schemaOf ?? ""), enabled: version !== undefined });
  if (!version) return null;
  return (
    <div className="flex flex-col gap-4">
      {versions.length > 1 && (
        <Field label="Version">
          {(control) => (
            <Select {...control} value={chosen} onChange={(event) => setChosen(Number(event.target.value))}>
              {versions.map(({ label }, n) => (
                <option key={label} value={n}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
      )}
      <Loaded query={revision}>
        {({ input_schema }) => (
          <RunForm
            key={version.schemaOf}
            agent={agent.id}
            schema={input_schema}
            label={version.label === "Draft" ? "Run draft" : "Run"}
            initial={run.input ?? {}}
            {...(version.revisionId && { body: { revision_id: version.revisionId } })}
          />
        )}
      </Loaded>
    </div>
  );
}

function OthersAgain({ run, card }: { run: RunRecord; card: AgentCard }) {
  const { owner, slug, pricing, input_schema } = card;
  const isMine = useSession().username === owner;
  const price = isMine ? 0 : pricing.per_run;
  return (
    <RunForm
      agent={`${owner}/${slug}`}
      schema={input_schema}
      label={price > 0 ? `Run for ${money(price)}` : "Run"}
      body={{ expected_price: pricing.per_run }}
      initial={run.input ?? {}}
    >
      {!isMine && (
        <p className="text-muted">
          Runs without access to your tenant, private models or files. To allow access, start the run from{" "}
          <TextLink to="/marketplace/$creator/$slug" params={{ creator: owner, slug }}>
            its marketplace page
          </TextLink>
          .
        </p>
      )}
    </RunForm>
  );
}
