import type { DriveRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextArea, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";

interface DriveDialogProps {
  /** Undefined: creates one. */
  drive?: DriveRecord;
  onClose(): void;
  onSaved(drive: DriveRecord): void;
}

export function DriveDialog({ drive, onClose, onSaved }: DriveDialogProps) {
  const [name, setName] = useState(drive?.name ?? "");
  const [description, setDescription] = useState(drive?.description ?? "");
  const queries = useQueryClient();
  const saving = useMutation({
    meta: { showsFailure: true },
    mutationFn: () => {
      const fields = { name, description: description.trim() === "" ? null : description };
      return drive ? api.drives.update(drive.id, fields) : api.drives.create(fields);
    },
    async onSuccess(saved) {
      await queries.invalidateQueries({ queryKey: ["drives"] });
      toast(drive ? "Drive saved" : "Drive created");
      onSaved(saved);
    },
  });
  const errors = fieldErrors(saving.error, ["name", "description"]);
  const about = drive
    ? { title: `Edit ${drive.name}` }
    : { title: "New drive", description: "Files shared between you and your agents." };
  return (
    <Dialog open onClose={onClose} {...about}>
      <Form
        submit={drive ? "Save" : "Create drive"}
        busy={saving.isPending}
        disabled={name.trim() === ""}
        errors={errors}
        onSubmit={() => saving.mutate()}
        onCancel={onClose}
      >
        <Field label="Name" required error={errors.of.name}>
          {(control) => (
            <TextInput {...control} required value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label="Description" hint="Optional." error={errors.of.description}>
          {(control) => (
            <TextArea
              {...control}
              rows={2}
              value={description}
              onChange={(event) => setDescription(event.target.value)}
            />
          )}
        </Field>
      </Form>
    </Dialog>
  );
}
