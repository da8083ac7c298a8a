import type { ToolServerRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Select, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";
import { addressHint } from "../providers/provider-form.rules.ts";
import { ServerAuthFields } from "./server-auth-fields.tsx";
import { changeOf, initialValues, newServer, type ServerFormValues } from "./server-form.rules.ts";
import { serverToolsQuery } from "./tool-server-queries.ts";

const fields = [
  "name",
  "url",
  "connection_type",
  "auth",
  "auth.token",
  "auth.header",
  "auth.value",
  "auth.client_id",
  "auth.client_secret",
  "auth.scope",
];

interface ServerDialogProps {
  /** Undefined: a new server. */
  server?: ToolServerRecord;
  onClose(): void;
  onSaved(server: ToolServerRecord): void;
}

/** Mounted only while open, so that credentials do not stay in memory. */
export function ServerDialog({ server, onClose, onSaved }: ServerDialogProps) {
  const [values, setValues] = useState(() => initialValues(server));
  const queries = useQueryClient();
  const saving = useMutation({
    meta: { showsFailure: true },
    // The request contains a credential, which must not stay in the cache.
    gcTime: 0,
    mutationFn: () =>
      server
        ? api.toolServers.update(server.id, changeOf(server, values) ?? {})
        : api.toolServers.create(newServer(values)),
    async onSuccess(saved) {
      queries.removeQueries(serverToolsQuery(saved.id));
      await queries.invalidateQueries({ queryKey: ["tool-servers"] });
      if (saved.status === "connected") toast("Tool server connected");
      else if (saved.status === "authorization_required") toast("Tool server saved. Authorize it to use its tools.");
      else toast(`Tool server saved, but it is ${saved.status}`, "warn");
      onSaved(saved);
    },
  });
  const errors = fieldErrors(saving.error, fields);
  const change = (some: Partial<ServerFormValues>) => setValues((now) => ({ ...now, ...some }));
  const isUnchanged = server !== undefined && changeOf(server, values) === undefined;
  return (
    <Dialog
      open
      onClose={onClose}
      title={server ? `Edit ${server.name}` : "Connect tool server"}
      description="An MCP server. Gantry connects to it and reads its tools when you save."
    >
      <Form
        submit={server ? "Save" : "Connect"}
        busy={saving.isPending}
        disabled={isUnchanged}
        errors={errors}
        onSubmit={() => saving.mutate()}
        onCancel={onClose}
      >
        <Field
          label="Name"
          required
          hint={`Letters, digits, _ and -. Agents call tools as ${values.name.trim() || "name"}__tool.`}
          error={errors.of.name}
        >
          {(control) => (
            <TextInput
              {...control}
              required
              value={values.name}
              onChange={(event) => change({ name: event.target.value })}
            />
          )}
        </Field>
        <Field label="URL" required hint={addressHint(values.url)} error={errors.of.url}>
          {(control) => (
            <TextInput
              {...control}
              inputMode="url"
              placeholder="https://tools.example.com/mcp"
              required
              value={values.url}
              onChange={(event) => change({ url: event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Transport"
          hint="Most servers use streamable HTTP. SSE is the older transport."
          error={errors.of.connection_type}
        >
          {(control) => (
            <Select
              {...control}
              value={values.connectionType}
              onChange={(event) => change({ connectionType: event.target.value as ServerFormValues["connectionType"] })}
            >
              <option value="streamable_http">Streamable HTTP</option>
              <option value="sse">SSE</option>
            </Select>
          )}
        </Field>
        <ServerAuthFields server={server} values={values} errors={errors.of} onChange={change} />
      </Form>
    </Dialog>
  );
}
