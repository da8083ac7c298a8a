import type { CreateKeyBody, KeyRecord } from "@gantry/sdk";
import type { UseMutationResult } from "@tanstack/react-query";
import { useState } from "react";
import { Field, Select, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { draftIssues, emptyDraft, type KeyDraft, keyRequest } from "./key-request.rules.ts";
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
  ["365", "In a year"],
  ["date", "After a day of your choice"],
];

export function KeyForm({ creating, onCancel }: KeyFormProps) {
  const [draft, setDraft] = useState(emptyDraft);
  const [isTried, setTried] = useState(false);
  const set = (change: Partial<KeyDraft>) => setDraft({ ...draft, ...change });
  const issues = draftIssues(draft);
  const own = isTried ? issues : {};
  const errors = fieldErrors(creating.error, ["name", "expires_at", "models", "monthly_limit"]);
  const submit = () => {
    setTried(true);
    if (Object.keys(issues).length === 0) creating.mutate(keyRequest(draft, new Date()));
  };
  return (
    <Form submit="Make the key" busy={creating.isPending} errors={errors} onSubmit={submit} onCancel={onCancel}>
      <Field label="Name" hint="For what it is: an application, a machine, a colleague." error={errors.of.name}>
        {(control) => (
          <TextInput {...control} maxLength={100} value={draft.name} onChange={(e) => set({ name: e.target.value })} />
        )}
      </Field>
      <Field
        label="Expires"
        hint={draft.expiry === "never" ? "It works until it is revoked." : "From then on it is refused."}
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
          hint="It works to the end of this day, in UTC."
          error={own.date ?? errors.of.expires_at}
        >
          {(control) => (
            <TextInput {...control} type="date" value={draft.date} onChange={(e) => set({ date: e.target.value })} />
          )}
        </Field>
      )}
      <Field label="Reach" hint="A key for an application should be able to do little.">
        {(control) => (
          <Select
            {...control}
            value={draft.reach}
            onChange={(e) => set({ reach: e.target.value as KeyDraft["reach"] })}
          >
            <option value="all">All that its owner may do</option>
            <option value="some">Only certain models</option>
          </Select>
        )}
      </Field>
      {draft.reach === "some" && (
        <Field
          label="Models"
          hint="It calls these, and runs agents on them; files, drives, secrets and models it does not manage."
          error={own.models ?? errors.of.models}
        >
          {(control) => (
            <ModelListInput control={control} models={draft.models} onModels={(models) => set({ models })} />
          )}
        </Field>
      )}
      <Field
        label="Monthly limit in dollars"
        hint="In a calendar month of UTC, with what is reserved for runs. Empty: no limit. A key with a limit manages neither models nor secrets."
        error={own.limit ?? errors.of.monthly_limit}
      >
        {(control) => (
          <TextInput
            {...control}
            inputMode="decimal"
            placeholder="No limit"
            value={draft.limit}
            onChange={(e) => set({ limit: e.target.value })}
          />
        )}
      </Field>
    </Form>
  );
}
