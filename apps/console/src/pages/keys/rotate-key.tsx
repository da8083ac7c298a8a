import type { KeyRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useSession } from "../../shell/session.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog, SecretDialog } from "../../ui/dialog.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";
import { nameOf } from "./key-name.ts";

const graces: [seconds: number, label: string][] = [
  [0, "Stops immediately"],
  [3_600, "1 hour"],
  [86_400, "1 day"],
  [7 * 86_400, "7 days"],
  [30 * 86_400, "30 days"],
];

export function RotateKey({ apiKey }: { apiKey: KeyRecord }) {
  const [isOpen, setOpen] = useState(false);
  const [grace, setGrace] = useState(86_400);
  const queries = useQueryClient();
  const { person } = useSession();
  const rotating = useMutation({
    meta: { showsFailure: true },
    // The result contains the key, which must not stay in the cache.
    gcTime: 0,
    mutationFn: () => api.account.keys.rotate(apiKey.id, { grace_seconds: grace }),
    onSuccess() {
      setOpen(false);
      toast(`Key ${nameOf(apiKey)} rotated`);
    },
  });
  const stopsNow = grace === 0;
  const close = () => {
    setOpen(false);
    rotating.reset();
  };
  // Refetching earlier would end a session of the old key before its user has seen the new one.
  const forget = () => {
    rotating.reset();
    void queries.invalidateQueries({ queryKey: ["keys"] });
  };
  // The new secret would have the rights of the member who created the key.
  if (apiKey.member !== null && apiKey.member !== person) return null;
  return (
    <>
      <Button kind="quiet" aria-label={`Rotate ${nameOf(apiKey)}`} onClick={() => setOpen(true)}>
        Rotate
      </Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title={`Rotate key ${nameOf(apiKey)}`}
        description="Creates a new key with the same name, limits and access."
      >
        <Form
          submit="Rotate"
          busy={rotating.isPending}
          errors={fieldErrors(rotating.error, [])}
          onSubmit={() => rotating.mutate()}
          onCancel={close}
        >
          <Field
            label="Old key keeps working for"
            hint={
              stopsNow
                ? "Apps that use the old key lose access, and sessions signed in with it end."
                : "Use this time to update your apps. Then sessions signed in with the old key end."
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
      <SecretDialog secret={rotating.data?.key} title={`New key ${nameOf(apiKey)}`} onClose={forget}>
        {stopsNow && (
          <p className="mt-3">
            The old key no longer works. Sessions signed in with it end; sign in again with the new key.
          </p>
        )}
      </SecretDialog>
    </>
  );
}
