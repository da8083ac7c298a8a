import type { KeyRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";
import { KeyLimitFields } from "./key-limit-fields.tsx";
import { nameOf } from "./key-name.ts";
import {
  type LimitDraft,
  limitDraftOf,
  limitErrors,
  limitFields,
  limitIssues,
  limitsOfDraft,
} from "./key-request.rules.ts";

export function EditKey({ apiKey }: { apiKey: KeyRecord }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="quiet" aria-label={`Edit ${nameOf(apiKey)}`} onClick={() => setOpen(true)}>
        Edit
      </Button>
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title={`Edit key ${nameOf(apiKey)}`}
        description="Changes apply to new requests. A new budget includes what the key has already spent."
      >
        <EditForm apiKey={apiKey} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function EditForm({ apiKey, onClose }: { apiKey: KeyRecord; onClose(): void }) {
  const [name, setName] = useState(apiKey.name);
  const [draft, setDraft] = useState<LimitDraft>(limitDraftOf(apiKey));
  const [isSubmitted, setSubmitted] = useState(false);
  const queries = useQueryClient();
  const changing = useMutation({
    meta: { showsFailure: true },
    mutationFn: () => api.account.keys.update(apiKey.id, { name: name.trim(), ...limitsOfDraft(draft) }),
    async onSuccess() {
      onClose();
      toast("Key saved");
      await queries.invalidateQueries({ queryKey: ["keys"] });
    },
  });
  const issues = limitIssues(draft);
  const errors = fieldErrors(changing.error, ["name", ...limitFields]);
  const submit = () => {
    setSubmitted(true);
    if (Object.keys(issues).length === 0) changing.mutate();
  };
  return (
    <Form submit="Save" busy={changing.isPending} errors={errors} onSubmit={submit} onCancel={onClose}>
      <Field label="Name" error={errors.of.name}>
        {(control) => <TextInput {...control} maxLength={100} value={name} onChange={(e) => setName(e.target.value)} />}
      </Field>
      <KeyLimitFields
        draft={draft}
        errors={limitErrors(isSubmitted ? issues : {}, errors.of)}
        onChange={(change) => setDraft({ ...draft, ...change })}
      />
    </Form>
  );
}
