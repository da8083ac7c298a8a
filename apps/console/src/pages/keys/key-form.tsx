import type { CreateKeyBody, KeyRecord } from "@gantry/sdk";
import type { UseMutationResult } from "@tanstack/react-query";
import { useState } from "react";
import { Checkbox, Field, Select, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { KeyLimitFields } from "./key-limit-fields.tsx";
import { draftIssues, emptyDraft, type KeyDraft, keyRequest, limitErrors, limitFields } from "./key-request.rules.ts";
import { ModelListInput } from "./model-list-input.tsx";

interface KeyFormProps {
  creating: UseMutationResult<KeyRecord, Error, CreateKeyBody>;
  onCancel(): void;
}

const expiries: [KeyDraft["expiry"], string][] = [
  ["never", "Never"],
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In 1 year"],
  ["date", "On a date of your choice"],
];

export function KeyForm({ creating, onCancel }: KeyFormProps) {
  const [draft, setDraft] = useState(emptyDraft);
  const [isSubmitted, setSubmitted] = useState(false);
  const set = (change: Partial<KeyDraft>) => setDraft((now) => ({ ...now, ...change }));
  const issues = draftIssues(draft);
  const own = isSubmitted ? issues : {};
  const errors = fieldErrors(creating.error, ["name", "expires_at", "models", ...limitFields]);
  const submit = () => {
    setSubmitted(true);
    if (Object.keys(issues).length === 0) creating.mutate(keyRequest(draft, new Date()));
  };
  return (
    <Form submit="Create key" busy={creating.isPending} errors={errors} onSubmit={submit} onCancel={onCancel}>
      <Field label="Name" hint={'What will use it? For example "website" or "my laptop".'} error={errors.of.name}>
        {(control) => (
          <TextInput {...control} maxLength={100} value={draft.name} onChange={(e) => set({ name: e.target.value })} />
        )}
      </Field>
      <Field
        label="Expires"
        hint={draft.expiry === "never" ? "The key works until you revoke it." : "The key stops working then."}
        error={draft.expiry === "date" ? undefined : errors.of.expires_at}
      >
        {(control) => (
          <Select
            {...control}
            value={draft.expiry}
            onChange={(e) => set({ expiry: e.target.value as KeyDraft["expiry"] })}
          >
            {expiries.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {draft.expiry === "date" && (
        <Field
          label="Last day"
          hint="The key works until the end of this day (UTC)."
          error={own.date ?? errors.of.expires_at}
        >
          {(control) => (
            <TextInput {...control} type="date" value={draft.date} onChange={(e) => set({ date: e.target.value })} />
          )}
        </Field>
      )}
      <Field label="Access" hint="Give an app only the access it needs.">
        {(control) => (
          <Select
            {...control}
            value={draft.access}
            onChange={(e) => set({ access: e.target.value as KeyDraft["access"] })}
          >
            <option value="all">Full access</option>
            <option value="some">Only certain models</option>
          </Select>
        )}
      </Field>
      {draft.access === "some" && (
        <Field
          label="Models"
          hint="The key can call these models and run agents on them. To allow an agent, add agents/creator/slug. The key can't manage files, drives, secrets or models."
          error={own.models ?? errors.of.models}
        >
          {(control) => (
            <ModelListInput
              control={control}
              models={draft.models}
              onModels={(change) => setDraft((now) => ({ ...now, models: change(now.models) }))}
            />
          )}
        </Field>
      )}
      <KeyLimitFields draft={draft} errors={limitErrors(own, errors.of)} onChange={set} />
      <Checkbox
        label="Keep the inputs of predictions with their results"
        checked={draft.keepInputs}
        onChange={(e) => set({ keepInputs: e.target.checked })}
      />
    </Form>
  );
}
