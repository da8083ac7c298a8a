import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";

interface PutSecretProps {
  label: string;
  icon?: ReactNode;
  /** Undefined: create a secret. */
  name?: string;
}

export function PutSecret({ label, icon, name }: PutSecretProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button
        kind={name === undefined ? "primary" : "quiet"}
        icon={icon}
        {...(name !== undefined && { "aria-label": `${label} ${name}` })}
        onClick={() => setOpen(true)}
      >
        {label}
      </Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title={name === undefined ? "New secret" : `Replace ${name}`}
        description="Stored encrypted and never shown again, not even to you."
      >
        <SecretForm {...(name !== undefined && { existing: name })} onDone={close} />
      </Dialog>
    </>
  );
}

function SecretForm({ existing, onDone }: { existing?: string; onDone(): void }) {
  const [name, setName] = useState(existing ?? "");
  const [value, setValue] = useState("");
  const queries = useQueryClient();
  const putting = useMutation({
    meta: { showsFailure: true },
    // The secret must not stay in the cache.
    gcTime: 0,
    mutationFn: () => api.secrets.put(name.trim(), value),
    async onSuccess() {
      toast(existing === undefined ? `Secret ${name.trim()} saved` : `Secret ${existing} replaced`);
      onDone();
      await queries.invalidateQueries({ queryKey: ["secrets"] });
    },
  });
  const errors = fieldErrors(putting.error, ["name", "value"]);
  return (
    <Form
      submit={existing === undefined ? "Save secret" : "Replace secret"}
      busy={putting.isPending}
      disabled={name.trim() === "" || value === ""}
      errors={errors}
      onSubmit={() => putting.mutate()}
      onCancel={onDone}
    >
      {existing === undefined && (
        <Field
          label="Name"
          required
          hint="Used in manifests. Letters, digits, _, . and -. An existing secret with this name is replaced."
          error={errors.of.name}
        >
          {(control) => (
            <TextInput {...control} required maxLength={63} value={name} onChange={(e) => setName(e.target.value)} />
          )}
        </Field>
      )}
      <Field
        label="Value"
        required
        hint="Sent to the backend as its credential. Printable ASCII, no leading or trailing spaces."
        error={errors.of.value}
      >
        {(control) => (
          <TextInput
            {...control}
            type="password"
            // Keeps password managers from filling in or saving the value.
            autoComplete="new-password"
            required
            value={value}
            onChange={(e) => setValue(e.target.value)}
          />
        )}
      </Field>
    </Form>
  );
}
