import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";

interface ConnectDialogProps {
  /** The tenant that is connected now. */
  domain: string | undefined;
  onClose(): void;
}

/** Shown while it is mounted, so that the token is gone with it. */
export function ConnectDialog({ domain: present, onClose }: ConnectDialogProps) {
  const [domain, setDomain] = useState(present ?? "");
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
      title={present ? "Replace the token" : "Connect a tenant"}
      description="The token is tried once, stored encrypted, and never shown again."
    >
      <Form
        submit={present ? "Try and replace" : "Try and connect"}
        busy={connecting.isPending}
        disabled={domain.trim() === "" || token.trim() === ""}
        errors={errors}
        onSubmit={() => connecting.mutate()}
        onCancel={onClose}
      >
        <Field label="Domain" required hint="Of the tenant, such as tenant.example.com." error={errors.of.domain}>
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
          hint="Of the tenant's management API. Its scopes say which actions are possible."
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
