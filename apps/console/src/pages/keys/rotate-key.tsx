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
    onSuccess() {
      setOpen(false);
      toast(`${nameOf(apiKey)} is rotated`);
    },
  });
  const stopsAtOnce = grace === 0;
  const close = () => {
    setOpen(false);
    rotating.reset();
  };
  // Not before: whoever is signed in with the old key is led away by the first answer, and the new one was not seen.
  const forget = () => {
    rotating.reset();
    void queries.invalidateQueries({ queryKey: ["keys"] });
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
          <Field
            label="How long the old key still works"
            hint={
              stopsAtOnce
                ? "Whatever uses it is refused, and whoever is signed in with it is signed out."
                : "As long as it takes to put the new one everywhere. Then whoever is signed in with it is signed out."
            }
          >
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
      <SecretDialog secret={rotating.data?.key} title={`The new key of ${nameOf(apiKey)}`} onClose={forget}>
        {stopsAtOnce && (
          <p className="mt-3">
            The old key has stopped: whoever is signed in with it is signed out, and needs this one.
          </p>
        )}
      </SecretDialog>
    </>
  );
}
