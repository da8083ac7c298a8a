import { useQuery } from "@tanstack/react-query";
import { CodeArea, Field, Select, TextInput } from "../../../ui/field.tsx";
import { addressHint, type ProviderDraft, type presetOf } from "../provider-form.rules.ts";
import { type ProviderScope, secretsOf } from "../provider-scope.ts";

interface FieldsProps {
  preset: ReturnType<typeof presetOf>;
  draft: ProviderDraft;
  onChange(part: Partial<ProviderDraft>): void;
}

export function AddressField({ preset, draft, error, onChange }: FieldsProps & { error: string | undefined }) {
  const isRequired = preset.url === undefined;
  const example = preset.urlExample ?? preset.url ?? "";
  return (
    <Field label="Address" required={isRequired} hint={addressHint(draft.url)} error={error}>
      {(control) => (
        <TextInput
          {...control}
          type="url"
          inputMode="url"
          required={isRequired}
          placeholder={example}
          value={draft.url}
          onChange={({ target }) => onChange({ url: target.value })}
        />
      )}
    </Field>
  );
}

interface KeyFieldsProps extends FieldsProps {
  scope: ProviderScope;
  /** The provider has a key, which stays unless a new one is typed. */
  hasStoredKey: boolean;
  error: string | undefined;
}

export function KeyFields({ preset, scope, draft, hasStoredKey, error, onChange }: KeyFieldsProps) {
  const secrets = useQuery({
    queryKey: ["secrets", "names", scope],
    queryFn: ({ signal }) => Array.fromAsync(secretsOf(scope).each({ signal })),
  });
  const names = secrets.data?.map(({ name }) => name) ?? [];
  const isRequired = preset.key === "required" && draft.secret === "";
  return (
    <>
      {!hasStoredKey && names.length > 0 && (
        <Field label="Key" hint="A new key is stored as a secret, named after the provider.">
          {(control) => (
            <Select {...control} value={draft.secret} onChange={({ target }) => onChange({ secret: target.value })}>
              <option value="">{preset.key === "required" ? "Enter a new key" : "None, or enter a new key"}</option>
              {names.map((name) => (
                <option key={name} value={name}>
                  Use the secret {name}
                </option>
              ))}
            </Select>
          )}
        </Field>
      )}
      {(hasStoredKey || draft.secret === "") && (
        <Field
          label={hasStoredKey ? "New API key" : "API key"}
          required={isRequired}
          hint={
            hasStoredKey
              ? `Replaces the secret ${draft.secret}. Leave empty to keep the stored key.`
              : `Stored encrypted and never shown again.${isRequired ? "" : " Leave empty if the server needs none."}`
          }
          error={error}
        >
          {(control) => (
            <TextInput
              {...control}
              type="password"
              // Keeps password managers from filling in or saving the value.
              autoComplete="new-password"
              required={isRequired}
              value={draft.key}
              onChange={({ target }) => onChange({ key: target.value })}
            />
          )}
        </Field>
      )}
    </>
  );
}

interface MoreFieldsProps extends FieldsProps {
  isNew: boolean;
  errors: Readonly<Record<string, string>>;
}

/** Opens by itself if one of its fields is wrong. */
export function MoreFields({ preset, draft, isNew, errors, onChange }: MoreFieldsProps) {
  const isFixedAddress = preset.isHosted && preset.url !== undefined;
  const hasError = ["name", "headers", "query", ...(isFixedAddress ? ["url"] : [])].some((field) => field in errors);
  return (
    <details open={hasError || undefined} className="rounded-md border border-line">
      <summary className="px-3 py-2 font-medium">More settings</summary>
      <div className="flex flex-col gap-4 border-line border-t p-3">
        {isNew && (
          <Field
            label="Name"
            hint="Lowercase letters, digits, dots, underscores and hyphens. Shown in the list of providers."
            error={errors.name}
          >
            {(control) => (
              <TextInput
                {...control}
                maxLength={40}
                value={draft.name}
                onChange={({ target }) => onChange({ name: target.value })}
              />
            )}
          </Field>
        )}
        {isFixedAddress && (
          <Field label="Address" hint={`Default: ${preset.url}`} error={errors.url}>
            {(control) => (
              <TextInput
                {...control}
                type="url"
                placeholder={preset.url}
                value={draft.url}
                onChange={({ target }) => onChange({ url: target.value })}
              />
            )}
          </Field>
        )}
        <Field
          label="Headers"
          hint="One per line, as name: value. {{secret:name}} stands for a stored secret."
          error={errors.headers}
        >
          {(control) => (
            <CodeArea
              {...control}
              rows={2}
              value={draft.headers}
              onChange={({ target }) => onChange({ headers: target.value })}
            />
          )}
        </Field>
        <Field label="Query parameters" hint="One per line, as name: value. Added to every call." error={errors.query}>
          {(control) => (
            <CodeArea
              {...control}
              rows={2}
              value={draft.query}
              onChange={({ target }) => onChange({ query: target.value })}
            />
          )}
        </Field>
      </div>
    </details>
  );
}
