import type { KeyRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog, SecretDialog } from "../../ui/dialog.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";
import { nameOf } from "./key-name.ts";

const graces: [seconds: number, label: string][] = [
  [0, "It stops at once"],
  [3_600, "An hour"],
  [86_400, "A day"],
  [7 * 86_400, "7 days"],
  [30 * 86_400, "30 days"],
];

/** A new secret under the same name and limits, and how long the old one goes on. */
export function RotateKey({ apiKey }: { apiKey: KeyRecord }) {
  const [isOpen, setOpen] = useState(false);
  const [grace, setGrace] = useState(86_400);
  const queries = useQueryClient();
  const rotating = useMutation({
    meta: { showsFailure: true },
    // The whole key is in the answer: nothing of it stays once it was shown.
    gcTime: 0,
    mutationFn: () => api.account.keys.rotate(apiKey.id, { grace_seconds: grace }),
    async onSuccess() {
      setOpen(false);
      toast(`${nameOf(apiKey)} is rotated`);
      await queries.invalidateQueries({ queryKey: ["keys"] });
    },
  });
  const close = () => {
    setOpen(false);
    rotating.reset();
  };
  return (
    <>
      <Button kind="quiet" aria-label={`Rotate ${nameOf(apiKey)}`} onClick={() => setOpen(true)}>
        Rotate
      </Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title={`Rotate ${nameOf(apiKey)}`}
        description="You get a new key with the same name, limits and reach."
      >
        <Form
          submit="Rotate"
          busy={rotating.isPending}
          errors={fieldErrors(rotating.error, [])}
          onSubmit={() => rotating.mutate()}
          onCancel={close}
        >
          <Field label="How long the old key still works" hint="As long as it takes to put the new one everywhere.">
            {(control) => (
              <Select {...control} value={grace} onChange={(event) => setGrace(Number(event.target.value))}>
                {graces.map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </Form>
      </Dialog>
      <SecretDialog secret={rotating.data?.key} title={`The new key of ${nameOf(apiKey)}`} onClose={rotating.reset} />
    </>
  );
}
