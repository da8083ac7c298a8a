import type { ProviderRecord, ProviderType } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useSession } from "../../../shell/session.ts";
import { Field, Select } from "../../../ui/field.tsx";
import { fieldErrors } from "../../../ui/field-errors.rules.ts";
import { Form } from "../../../ui/form.tsx";
import { Loaded } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { draftOf, nameFaultOf, newDraft, type ProviderDraft, presetOf, textsIn } from "../provider-form.rules.ts";
import { type ProviderScope, providersQuery, useMayShare } from "../provider-scope.ts";
import { AddressField, KeyFields, MoreFields } from "./provider-fields.tsx";
import { useSaveProvider } from "./use-save-provider.ts";

interface ProviderFormProps {
  type: ProviderType;
  scope: ProviderScope;
  /** Undefined: create a provider. */
  existing?: ProviderRecord;
}

export function ProviderForm(props: ProviderFormProps) {
  const { username } = useSession();
  const known = useQuery(providersQuery(props.scope, username));
  /** Kept here, so that another choice of "Available to" does not discard them. */
  const [edits, setEdits] = useState<Partial<ProviderDraft>>({});
  const change = (part: Partial<ProviderDraft>) => setEdits((before) => ({ ...before, ...part }));
  return (
    <Panel className="max-w-2xl">
      <Loaded query={known}>
        {(all) => (
          <LoadedForm
            key={props.scope}
            {...props}
            taken={all.map(({ name }) => name)}
            edits={edits}
            onChange={change}
          />
        )}
      </Loaded>
    </Panel>
  );
}

/** Fields of the API that the form shows. */
const shownFields = ["name", "url", "secret", "value", "headers", "query"];

interface LoadedFormProps extends ProviderFormProps {
  taken: readonly string[];
  edits: Partial<ProviderDraft>;
  onChange(part: Partial<ProviderDraft>): void;
}

function LoadedForm({ type, scope, existing, taken, edits, onChange: change }: LoadedFormProps) {
  const preset = presetOf(type);
  const [initial] = useState(() => (existing ? draftOf(existing) : newDraft(type, taken)));
  const draft = { ...initial, ...edits };
  const navigate = useNavigate({ from: "/models/connect" });
  const shared = scope === "everyone" ? { for: scope } : {};
  const saving = useSaveProvider({ type, scope, isNew: existing === undefined });
  const errors = fieldErrors(saving.error, shownFields);
  const faults = [draft.headers, draft.query].map((lines) => {
    const read = textsIn(lines);
    return "fault" in read ? read.fault : undefined;
  });
  // A provider that this form has just saved is listed too.
  const nameFault = existing || saving.isSuccess ? undefined : nameFaultOf(draft.name.trim(), taken);
  const isIncomplete =
    nameFault !== undefined ||
    (preset.url === undefined && draft.url.trim() === "") ||
    (preset.key === "required" && draft.secret === "" && draft.key.trim() === "");
  return (
    <Form
      submit={existing ? "Save and test" : "Connect"}
      busy={saving.isPending}
      disabled={isIncomplete || faults.some((fault) => fault !== undefined)}
      errors={errors}
      onSubmit={() => saving.mutate(draft)}
      onCancel={() => void navigate(existing ? { to: "/providers", search: shared } : { search: {} })}
    >
      {existing === undefined && <ScopeField type={type} scope={scope} onChange={() => change({ secret: "" })} />}
      {(!preset.isHosted || preset.url === undefined) && (
        <AddressField preset={preset} draft={draft} error={errors.of.url} onChange={change} />
      )}
      {preset.key !== "none" && (
        <KeyFields
          preset={preset}
          scope={scope}
          draft={draft}
          hasStoredKey={existing !== undefined && existing.secret !== null}
          error={errors.of.value ?? errors.of.secret}
          onChange={change}
        />
      )}
      <MoreFields
        preset={preset}
        draft={draft}
        isNew={existing === undefined}
        errors={{
          ...errors.of,
          ...(nameFault !== undefined && { name: nameFault }),
          ...(faults[0] !== undefined && { headers: faults[0] }),
          ...(faults[1] !== undefined && { query: faults[1] }),
        }}
        onChange={change}
      />
    </Form>
  );
}

/** In the address, so that a reload keeps it. */
function ScopeField({ type, scope, onChange }: { type: ProviderType; scope: ProviderScope; onChange(): void }) {
  const navigate = useNavigate({ from: "/models/connect" });
  if (!useMayShare()) return null;
  return (
    <Field
      label="Available to"
      hint={
        scope === "everyone"
          ? "The models belong to gantry, and all users can call them."
          : "The models are private until you change their visibility."
      }
    >
      {(control) => (
        <Select
          {...control}
          value={scope}
          onChange={({ target }) => {
            onChange();
            void navigate({
              search: target.value === "everyone" ? { type, for: "everyone" } : { type },
              replace: true,
            });
          }}
        >
          <option value="own">Only you</option>
          <option value="everyone">Everyone</option>
        </Select>
      )}
    </Field>
  );
}
