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
  onMade(drive: DriveRecord): void;
}

export function NewDriveDialog({ onClose, onMade }: NewDriveDialogProps) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const queries = useQueryClient();
  const making = useMutation({
    meta: { showsFailure: true },
    mutationFn: () => api.drives.create({ name, ...(description.trim() !== "" && { description }) }),
    async onSuccess(drive) {
      await queries.invalidateQueries({ queryKey: ["drives"] });
      toast(`${drive.name} is made`);
      onMade(drive);
    },
  });
  const errors = fieldErrors(making.error, ["name", "description"]);
  return (
    <Dialog open onClose={onClose} title="New drive" description="Files that you and your agents share.">
      <Form
        submit="Make it"
        busy={making.isPending}
        disabled={name.trim() === ""}
        errors={errors}
        onSubmit={() => making.mutate()}
        onCancel={onClose}
      >
        <Field label="Name" required error={errors.of.name}>
          {(control) => (
            <TextInput {...control} required value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label="Description" hint="What it is for. It cannot be changed later." error={errors.of.description}>
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
