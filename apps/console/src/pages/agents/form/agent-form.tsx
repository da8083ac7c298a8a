import { type FormEvent, useEffect, useRef, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { CodeArea, Field } from "../../../ui/field.tsx";
import { fieldErrors } from "../../../ui/field-errors.rules.ts";
import { pretty, readObject } from "../../../ui/json.rules.ts";
import { Failure } from "../../../ui/notice.tsx";
import { type AgentDraft, changesOf, instructionParts, readDraft } from "./agent-draft.rules.ts";
import { AgentsSection } from "./agents-section.tsx";
import { BasicsSection } from "./basics-section.tsx";
import { DrivesSection } from "./drives-section.tsx";
import { InputSection } from "./input-section.tsx";
import { LeaveGuard } from "./leave-guard.tsx";
import { MoreSection } from "./more-section.tsx";
import { ServersSection } from "./servers-section.tsx";
import { ToolsSection } from "./tools-section.tsx";

interface AgentFormProps {
  initial: AgentDraft;
  agentId?: string;
  label: string;
  busy: boolean;
  /** Of the last attempt. */
  error: unknown;
  onSubmit(draft: AgentDraft): void;
}

/** Fields that show their own errors. */
const shownFields = [
  ...["name", "goal", "model", "tools", "drives", "mcp_servers", "input_schema", "output_schema"],
  ...instructionParts.map((part) => `instructions.${part}`),
];

export function AgentForm({ initial, agentId, label, busy, error, onSubmit }: AgentFormProps) {
  const [draft, setDraft] = useState(initial);
  /** Undefined: the form is shown instead of JSON. */
  const [json, setJson] = useState<string>();
  const read = json === undefined ? { draft } : readJson(json);
  const change = (part: Partial<AgentDraft>) => setDraft((before) => ({ ...before, ...part }));
  const isDirty = !("draft" in read) || changesOf(initial, read.draft) !== undefined;
  const errors = fieldErrors(busy ? undefined : error, json === undefined ? shownFields : []);
  const hasFailed = errors.failure !== undefined;
  const isUnchanged = agentId !== undefined && !isDirty;

  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (hasFailed) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [hasFailed]);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if ("draft" in read) onSubmit(read.draft);
  };
  const showForm = () => {
    if ("draft" in read) setDraft(read.draft);
    setJson(undefined);
  };
  return (
    <form ref={form} className="flex flex-col gap-4" onSubmit={submit}>
      <LeaveGuard isDirty={isDirty && !busy} />
      <fieldset className="flex gap-1">
        <legend className="sr-only">Edit as</legend>
        <Button
          kind={json === undefined ? "plain" : "quiet"}
          aria-pressed={json === undefined}
          disabled={"fault" in read}
          onClick={showForm}
        >
          Form
        </Button>
        <Button
          kind={json === undefined ? "quiet" : "plain"}
          aria-pressed={json !== undefined}
          onClick={() => setJson(json ?? pretty(draft))}
        >
          JSON
        </Button>
      </fieldset>
      {errors.rest !== undefined && <Failure error={errors.rest} />}
      {json === undefined ? (
        <>
          <BasicsSection draft={draft} errors={errors.of} onChange={change} />
          <ToolsSection tools={draft.tools} error={errors.of.tools} onChange={(tools) => change({ tools })} />
          <div className="grid gap-4 lg:grid-cols-3">
            <AgentsSection tools={draft.tools} agentId={agentId} onChange={(tools) => change({ tools })} />
            <DrivesSection drives={draft.drives} error={errors.of.drives} onChange={(drives) => change({ drives })} />
            <ServersSection
              servers={draft.mcp_servers}
              error={errors.of.mcp_servers}
              onChange={(mcp_servers) => change({ mcp_servers })}
            />
          </div>
          <InputSection
            schema={draft.input_schema}
            error={errors.of.input_schema}
            onChange={(input_schema) => change({ input_schema })}
          />
          <MoreSection draft={draft} errors={errors.of} onChange={change} />
        </>
      ) : (
        <Field
          label="Agent (JSON)"
          hint="All settings of the agent, including those that the form doesn't show, such as fixed arguments of a tool."
          error={"fault" in read ? read.fault : undefined}
        >
          {(control) => (
            <CodeArea {...control} rows={28} value={json} onChange={(event) => setJson(event.target.value)} />
          )}
        </Field>
      )}
      <div className="sticky bottom-0 flex items-center justify-end gap-3 border-line border-t bg-page py-3">
        {hasFailed && (
          <span role="alert" className="text-bad">
            Not saved. Fix the marked fields.
          </span>
        )}
        {isUnchanged && <span className="text-muted">No changes</span>}
        <Button kind="primary" type="submit" busy={busy} disabled={"fault" in read || isUnchanged}>
          {label}
        </Button>
      </div>
    </form>
  );
}

function readJson(text: string): ReturnType<typeof readDraft> {
  const read = readObject(text);
  return "fault" in read ? read : readDraft(read.value);
}
