import type { TakeDownRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useSession } from "../../shell/session.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextArea } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";

type Target = Pick<TakeDownRecord, "kind" | "id">;

/** Shown to admins only. */
export function TakeDown({ kind, id }: Target) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  if (useSession().role !== "admin") return null;
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)}>
        Take down
      </Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title={`Take down this ${kind}?`}
        description="Until an admin restores it, only the owner can see and use it. Running work is not affected."
      >
        <ReasonForm kind={kind} id={id} onDone={close} />
      </Dialog>
    </>
  );
}

function ReasonForm({ kind, id, onDone }: Target & { onDone(): void }) {
  const [reason, setReason] = useState("");
  const queries = useQueryClient();
  const sending = useMutation({
    meta: { showsFailure: true },
    mutationFn: () => api.admin.takeDowns[kind](id, reason.trim()),
    async onSuccess() {
      toast(`${kind === "agent" ? "Agent" : "Model"} taken down`);
      onDone();
      await queries.invalidateQueries();
    },
  });
  const errors = fieldErrors(sending.error, ["reason"]);
  return (
    <Form
      submit="Take down"
      busy={sending.isPending}
      disabled={reason.trim() === ""}
      errors={errors}
      onSubmit={() => sending.mutate()}
      onCancel={onDone}
    >
      <Field label="Reason" required hint="Shown to the owner." error={errors.of.reason}>
        {(control) => (
          <TextArea
            {...control}
            required
            maxLength={1000}
            rows={3}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
    </Form>
  );
}
