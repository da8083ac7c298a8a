import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";

interface ConnectDialogProps {
  /** The connected tenant. */
  domain: string | undefined;
  onClose(): void;
}

/** Mounted only while open, so that the token does not stay in memory. */
export function ConnectDialog({ domain: current, onClose }: ConnectDialogProps) {
  const [domain, setDomain] = useState(current ?? "");
  const [token, setToken] = useState("");
  const queries = useQueryClient();
  const connecting = useMutation({
    meta: { showsFailure: true },
    gcTime: 0,
    mutationFn: () => api.idp.configure({ domain: domain.trim(), token: token.trim() }),
    async onSuccess(connector) {
      await queries.invalidateQueries({ queryKey: ["identity"] });
      toast(`Connected to ${connector.domain}`);
      onClose();
    },
  });
  const errors = fieldErrors(connecting.error, ["domain", "token"]);
  return (
    <Dialog
      open
      onClose={onClose}
      title={current ? "Replace token" : "Connect tenant"}
      description="Gantry tests the token, stores it encrypted and never shows it again."
    >
      <Form
        submit={current ? "Replace token" : "Connect tenant"}
        busy={connecting.isPending}
        disabled={domain.trim() === "" || token.trim() === ""}
        errors={errors}
        onSubmit={() => connecting.mutate()}
        onCancel={onClose}
      >
        <Field label="Domain" required hint="For example tenant.example.com." error={errors.of.domain}>
          {(control) => (
            <TextInput
              {...control}
              inputMode="url"
              required
              value={domain}
              onChange={(event) => setDomain(event.target.value)}
            />
          )}
        </Field>
        <Field
          label="Token"
          required
          hint="For the tenant's management API. The scopes of the token determine the available actions."
          error={errors.of.token}
        >
          {(control) => (
            <TextInput
              {...control}
              type="password"
              autoComplete="new-password"
              required
              value={token}
              onChange={(event) => setToken(event.target.value)}
            />
          )}
        </Field>
      </Form>
    </Dialog>
  );
}
