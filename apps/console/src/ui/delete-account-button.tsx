import { useMutation } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Field, TextInput } from "./field.tsx";
import { fieldErrors } from "./field-errors.rules.ts";
import { Form } from "./form.tsx";

interface DeleteAccountButtonProps {
  username: string;
  question: string;
  onDelete(): Promise<void>;
}

/** Deletes an account after its name was typed. */
export function DeleteAccountButton({ username, question, onDelete }: DeleteAccountButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const deleting = useMutation({ meta: { showsFailure: true }, mutationFn: onDelete, onSuccess: () => close() });
  const close = () => {
    setOpen(false);
    setTyped("");
    deleting.reset();
  };
  return (
    <>
      <Button kind="danger" icon={<Trash2 size={14} />} onClick={() => setOpen(true)}>
        Delete account
      </Button>
      <Dialog
        open={isOpen}
        closesAtOnce
        onClose={close}
        title={question}
        description="Keys and sessions stop working at once. Everything that the account stored is deleted: files, drives, results, agents, models and secrets. The ledger stays, without the name. This cannot be undone."
      >
        <Form
          submit="Delete account"
          busy={deleting.isPending}
          disabled={typed !== username}
          errors={fieldErrors(deleting.error, ["username"])}
          onSubmit={() => deleting.mutate()}
          onCancel={close}
        >
          <Field label={`Type ${username} to confirm`} required>
            {(control) => (
              <TextInput
                {...control}
                autoComplete="off"
                required
                value={typed}
                onChange={(event) => setTyped(event.target.value)}
              />
            )}
          </Field>
        </Form>
      </Dialog>
    </>
  );
}
