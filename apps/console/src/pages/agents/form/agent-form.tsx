import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { CodeArea, Field } from "../../../ui/field.tsx";
import { fieldErrors } from "../../../ui/field-errors.rules.ts";
import { pretty, readObject } from "../../../ui/json.rules.ts";
import { LeaveGuard } from "../../../ui/leave-guard.tsx";
import { Failure, Notice } from "../../../ui/notice.tsx";
import { type AgentDraft, changesOf, instructionParts, readDraft } from "./agent-draft.rules.ts";
import { AgentFields } from "./agent-fields.tsx";
import { currentErrors, draftFaults } from "./draft-faults.rules.ts";
import type { EditedDraft, Merged } from "./use-agent-draft.ts";

interface AgentFormProps {
  edited: EditedDraft;
  agentId?: string;
  label: string;
  busy: boolean;
  /** Of the last attempt, and the draft that was sent. */
  error: unknown;
  sent: AgentDraft | undefined;
  /** Whether the user tried to save, here or by a test. */
  hasTried: boolean;
  onSubmit(): void;
  /** Beside the fields, or below on small screens. */
  aside: ReactNode;
}

/** Fields that show their own errors. */
const shownFields = [
  ...["name", "description", "goal", "model", "tools", "drives", "mcp_servers", "input_schema", "output_schema"],
  ...["memory", "memory.drive", "memory.path", "webhook", "webhook.url", "webhook.events"],
  ...instructionParts.map((part) => `instructions.${part}`),
];

export function AgentForm({ edited, agentId, label, busy, error, sent, hasTried, onSubmit, aside }: AgentFormProps) {
  const { draft, isDirty, inputs, change } = edited;
  /** Undefined: the form is shown instead of JSON. */
  const [json, setJson] = useState<string>();
  const read = json === undefined ? undefined : readJson(json);
  const fault = read && "fault" in read ? read.fault : undefined;
  // A version that was saved elsewhere has changed the draft.
  if (read && "draft" in read && changesOf(read.draft, draft) && json !== pretty(draft)) setJson(pretty(draft));
  const refused = fieldErrors(busy ? undefined : error, json === undefined ? shownFields : []);
  const errors = { ...currentErrors(refused.of, sent, draft), ...draftFaults(draft, hasTried) };
  const isRefused = refused.rest !== undefined && sent === draft;
  const isWrong = Object.keys(errors).length > 0 || isRefused;
  const isUnchanged = agentId !== undefined && !isDirty;

  const form = useRef<HTMLFormElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt moves focus to its first error.
  useEffect(() => {
    const invalid = hasTried ? form.current?.querySelector<HTMLElement>('[aria-invalid="true"]') : undefined;
    const section = invalid?.closest("details");
    if (section) section.open = true;
    invalid?.focus();
  }, [hasTried, refused.failure]);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (fault === undefined && !busy) onSubmit();
  };
  const write = (text: string) => {
    setJson(text);
    const now = readJson(text);
    if ("draft" in now) change(now.draft);
  };
  return (
    <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_minmax(24rem,30rem)]">
      <form ref={form} aria-label="Agent" className="flex min-w-0 flex-col gap-3" onSubmit={submit} noValidate>
        <LeaveGuard isDirty={(isDirty || fault !== undefined) && !busy} />
        <fieldset className="flex w-fit gap-0.5 rounded-md border border-line bg-sunken p-0.5">
          <legend className="sr-only">Edit as</legend>
          <Mode isOn={json === undefined} disabled={fault !== undefined} onChoose={() => setJson(undefined)}>
            Form
          </Mode>
          <Mode isOn={json !== undefined} onChoose={() => setJson(json ?? pretty(draft))}>
            JSON
          </Mode>
        </fieldset>
        {edited.merged && <SavedElsewhere {...edited.merged} />}
        {isRefused && <Failure error={refused.rest} />}
        {json === undefined ? (
          <AgentFields draft={draft} errors={errors} inputs={inputs} agentId={agentId} onChange={change} />
        ) : (
          <Field
            label="Agent (JSON)"
            hint="All settings of the agent, including those that the form doesn't show, such as fixed arguments of a tool."
            error={fault}
          >
            {(control) => (
              <CodeArea {...control} rows={28} value={json} onChange={(event) => write(event.target.value)} />
            )}
          </Field>
        )}
        <div
          data-sticky-bar
          className="sticky bottom-0 z-10 flex items-center justify-end gap-3 border-line border-t bg-page py-3"
        >
          {hasTried && isWrong && !busy && (
            <span role="alert" className="text-bad">
              Not saved. Fix the marked fields.
            </span>
          )}
          {isUnchanged && <span className="text-muted">No changes</span>}
          <Button kind="primary" type="submit" busy={busy} disabled={fault !== undefined || isUnchanged}>
            {label}
          </Button>
        </div>
      </form>
      {aside}
    </div>
  );
}

function SavedElsewhere({ taken, kept }: Merged) {
  const list = (fields: Merged["taken"]) => fields.map((field) => field.replaceAll("_", " ")).join(", ");
  return (
    <Notice tone="warn" title="A newer version was saved while you were editing">
      {taken.length > 0 && <p>Added to your draft: {list(taken)}.</p>}
      {kept.length > 0 && <p>Saving replaces the newer version of: {list(kept)}.</p>}
    </Notice>
  );
}

interface ModeProps {
  isOn: boolean;
  disabled?: boolean;
  onChoose(): void;
  children: ReactNode;
}

function Mode({ isOn, disabled, onChoose, children }: ModeProps) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      disabled={disabled}
      className="h-7 rounded px-2.5 font-medium text-muted hover:text-ink disabled:cursor-not-allowed aria-pressed:bg-panel aria-pressed:text-ink aria-pressed:shadow-sm"
      onClick={onChoose}
    >
      {children}
    </button>
  );
}

function readJson(text: string): ReturnType<typeof readDraft> {
  const read = readObject(text);
  return "fault" in read ? read : readDraft(read.value);
}
