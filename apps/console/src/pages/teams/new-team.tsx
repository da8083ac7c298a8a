import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";

export function NewTeam() {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button kind="primary" icon={<Plus size={14} />} onClick={() => setOpen(true)}>
        New team
      </Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title="New team"
        description="You become its owner. A new team has no credit: an admin adds it."
      >
        <TeamForm onDone={close} />
      </Dialog>
    </>
  );
}

function TeamForm({ onDone }: { onDone(): void }) {
  const [name, setName] = useState("");
  const queries = useQueryClient();
  const navigate = useNavigate();
  const creating = useMutation({
    meta: { showsFailure: true },
    mutationFn: () => api.teams.create({ name: name.trim() }),
    async onSuccess(team) {
      toast(`Team ${team.name} created`);
      onDone();
      await queries.invalidateQueries({ queryKey: ["teams"] });
      await navigate({ to: "/teams/$team", params: { team: team.name } });
    },
  });
  const errors = fieldErrors(creating.error, ["name"]);
  return (
    <Form
      submit="Create team"
      busy={creating.isPending}
      disabled={name.trim() === ""}
      errors={errors}
      onSubmit={() => creating.mutate()}
      onCancel={onDone}
    >
      <Field
        label="Name"
        required
        hint="a-z, 0-9 and -. Part of the ids of its models, such as name/model."
        error={errors.of.name}
      >
        {(control) => (
          <TextInput {...control} required maxLength={39} value={name} onChange={(e) => setName(e.target.value)} />
        )}
      </Field>
    </Form>
  );
}
