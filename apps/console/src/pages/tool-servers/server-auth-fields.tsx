import type { ToolServerRecord } from "@gantry/sdk";
import { Field, Select, TextInput } from "../../ui/field.tsx";
import type { AuthChoice, ServerFormValues } from "./server-form.rules.ts";

interface ServerAuthFieldsProps {
  /** Undefined: a new server. */
  server: ToolServerRecord | undefined;
  values: ServerFormValues;
  errors: Readonly<Record<string, string>>;
  onChange(change: Partial<ServerFormValues>): void;
}

/** Stored credentials are never read back; they are kept, replaced or removed. */
export function ServerAuthFields({ server, values, errors, onChange }: ServerAuthFieldsProps) {
  return (
    <>
      <Field
        label="Authentication"
        hint="Credentials are stored encrypted and never shown again."
        error={
          errors.auth && values.auth === "keep"
            ? "The new URL has another host or port, or does not use https. Enter the credentials again, or choose None."
            : errors.auth
        }
      >
        {(control) => (
          <Select
            {...control}
            value={values.auth}
            onChange={(event) => onChange({ auth: event.target.value as AuthChoice })}
          >
            {server?.auth && <option value="keep">Keep stored credentials</option>}
            <option value="none">None</option>
            <option value="bearer">Bearer token</option>
            <option value="api_key">API key in a header</option>
            <option value="oauth">OAuth</option>
          </Select>
        )}
      </Field>
      {values.auth === "bearer" && (
        <Field label="Token" required hint='Without the prefix "Bearer".' error={errors["auth.token"]}>
          {(control) => (
            <TextInput
              {...control}
              type="password"
              autoComplete="new-password"
              required
              value={values.token}
              onChange={(event) => onChange({ token: event.target.value })}
            />
          )}
        </Field>
      )}
      {values.auth === "api_key" && (
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Header" required hint="For example X-Api-Key." error={errors["auth.header"]}>
            {(control) => (
              <TextInput
                {...control}
                required
                value={values.header}
                onChange={(event) => onChange({ header: event.target.value })}
              />
            )}
          </Field>
          <Field label="Key" required error={errors["auth.value"]}>
            {(control) => (
              <TextInput
                {...control}
                type="password"
                autoComplete="new-password"
                required
                value={values.value}
                onChange={(event) => onChange({ value: event.target.value })}
              />
            )}
          </Field>
        </div>
      )}
      {values.auth === "oauth" && <OAuthFields values={values} errors={errors} onChange={onChange} />}
    </>
  );
}

function OAuthFields({ values, errors, onChange }: Omit<ServerAuthFieldsProps, "server">) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Client ID"
          hint="Leave empty to let Gantry register itself, if the server allows that."
          error={errors["auth.client_id"]}
        >
          {(control) => (
            <TextInput
              {...control}
              value={values.clientId}
              onChange={(event) => onChange({ clientId: event.target.value })}
            />
          )}
        </Field>
        <Field label="Client secret" hint="Only if the client has one." error={errors["auth.client_secret"]}>
          {(control) => (
            <TextInput
              {...control}
              type="password"
              autoComplete="new-password"
              value={values.clientSecret}
              onChange={(event) => onChange({ clientSecret: event.target.value })}
            />
          )}
        </Field>
      </div>
      <Field
        label="Scopes"
        hint="Separated by spaces. Empty: those that the server names."
        error={errors["auth.scope"]}
      >
        {(control) => (
          <TextInput {...control} value={values.scope} onChange={(event) => onChange({ scope: event.target.value })} />
        )}
      </Field>
    </>
  );
}
