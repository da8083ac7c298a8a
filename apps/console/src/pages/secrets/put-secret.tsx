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
  /** The one whose value is replaced; none: a new one. */
  name?: string;
}

/** The button, and the form behind it. */
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
        description="It is stored encrypted and never shown again, not even to you."
      >
        <SecretForm {...(name !== undefined && { given: name })} onDone={close} />
      </Dialog>
    </>
  );
}

function SecretForm({ given, onDone }: { given?: string; onDone(): void }) {
  const [name, setName] = useState(given ?? "");
  const [value, setValue] = useState("");
  const queries = useQueryClient();
  const putting = useMutation({
    meta: { showsFailure: true },
    // What was sent is a secret: it is not kept beyond the form.
    gcTime: 0,
    mutationFn: () => api.secrets.put(name.trim(), value),
    async onSuccess() {
      toast(given === undefined ? `${name.trim()} is stored` : `${given} has a new value`);
      onDone();
      await queries.invalidateQueries({ queryKey: ["secrets"] });
    },
  });
  const errors = fieldErrors(putting.error, ["name", "value"]);
  return (
    <Form
      submit={given === undefined ? "Store it" : "Replace it"}
      busy={putting.isPending}
      disabled={name.trim() === "" || value === ""}
      errors={errors}
      onSubmit={() => putting.mutate()}
      onCancel={onDone}
    >
      {given === undefined && (
        <Field
          label="Name"
          required
          hint="By which a manifest names it: letters, digits, _, . and -. One of this name that is stored is replaced."
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
        hint="What the backend is sent as its credential: printable ASCII, without spaces around it."
        error={errors.of.value}
      >
        {(control) => (
          <TextInput
            {...control}
            type="password"
            // A password manager has nothing to offer here, and nothing to save.
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
