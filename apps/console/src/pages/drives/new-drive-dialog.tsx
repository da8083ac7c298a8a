import type { DriveRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextArea, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";

interface NewDriveDialogProps {
  onClose(): void;
  onCreated(drive: DriveRecord): void;
}

export function NewDriveDialog({ onClose, onCreated }: NewDriveDialogProps) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const queries = useQueryClient();
  const creating = useMutation({
    meta: { showsFailure: true },
    mutationFn: () => api.drives.create({ name, ...(description.trim() !== "" && { description }) }),
    async onSuccess(drive) {
      await queries.invalidateQueries({ queryKey: ["drives"] });
      toast("Drive created");
      onCreated(drive);
    },
  });
  const errors = fieldErrors(creating.error, ["name", "description"]);
  return (
    <Dialog open onClose={onClose} title="New drive" description="Files shared between you and your agents.">
      <Form
        submit="Create drive"
        busy={creating.isPending}
        disabled={name.trim() === ""}
        errors={errors}
        onSubmit={() => creating.mutate()}
        onCancel={onClose}
      >
        <Field label="Name" required error={errors.of.name}>
          {(control) => (
            <TextInput {...control} required value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label="Description" hint="Optional. Can't be changed later." error={errors.of.description}>
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
