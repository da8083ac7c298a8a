import type { AliasRecord } from "@gantry/sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useId, useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Select, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";
import { type AliasScope, aliasesOf } from "./alias-scope.ts";

interface PutAliasProps {
  label: string;
  icon?: ReactNode;
  /** Undefined: create an alias. */
  alias?: AliasRecord;
  scope: AliasScope;
  /** The user may also create aliases for everyone. */
  mayShare?: boolean;
}

export function PutAlias({ label, icon, ...form }: PutAliasProps) {
  const { alias } = form;
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button
        kind={alias ? "quiet" : "primary"}
        icon={icon}
        {...(alias && { "aria-label": `${label} ${alias.name}` })}
        onClick={() => setOpen(true)}
      >
        {label}
      </Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title={alias ? `Change ${alias.name}` : "New alias"}
        description={
          alias
            ? "Applies to new requests, and to agents from their next call."
            : "Your own alias wins over one with the same name for everyone."
        }
      >
        <AliasForm {...form} onDone={close} />
      </Dialog>
    </>
  );
}

function AliasForm({
  alias,
  scope,
  mayShare = false,
  onDone,
}: Omit<PutAliasProps, "label" | "icon"> & { onDone(): void }) {
  const [name, setName] = useState(alias?.name ?? "");
  const [model, setModel] = useState(alias?.model ?? "");
  const [chosen, setChosen] = useState(scope);
  const queries = useQueryClient();
  const putting = useMutation({
    meta: { showsFailure: true },
    mutationFn: () => aliasesOf(chosen).put(name.trim(), model.trim()),
    async onSuccess() {
      toast(`Alias ${name.trim()} saved${chosen === "everyone" ? " for everyone" : ""}`);
      onDone();
      await queries.invalidateQueries({ queryKey: ["aliases"] });
    },
  });
  const errors = fieldErrors(putting.error, ["name", "model"]);
  return (
    <Form
      submit="Save alias"
      busy={putting.isPending}
      disabled={name.trim() === "" || model.trim() === ""}
      errors={errors}
      onSubmit={() => putting.mutate()}
      onCancel={onDone}
    >
      {!alias && (
        <Field
          label="Name"
          required
          hint="Letters, digits, ., _, : and -. An existing alias with this name is changed."
          error={errors.of.name}
        >
          {(control) => (
            <TextInput {...control} required maxLength={63} value={name} onChange={(e) => setName(e.target.value)} />
          )}
        </Field>
      )}
      <Field label="Model or agent" required hint="owner/model or agents/creator/slug." error={errors.of.model}>
        {(control) => <TargetInput {...control} value={model} onValue={setModel} />}
      </Field>
      {mayShare && (
        <Field label="Available to" hint="Users who may not call the model can't use the alias.">
          {(control) => (
            <Select {...control} value={chosen} onChange={(e) => setChosen(e.target.value as AliasScope)}>
              <option value="own">Only you</option>
              <option value="everyone">Everyone</option>
            </Select>
          )}
        </Field>
      )}
    </Form>
  );
}

function TargetInput({ value, onValue, ...control }: { value: string; onValue(value: string): void }) {
  const listId = useId();
  const q = value.trim();
  const suggested = useQuery({
    queryKey: ["models", "suggested", q],
    queryFn: ({ signal }) => api.models.list({ ...(q && { q }), signal }),
    staleTime: 60_000,
  });
  return (
    <>
      <TextInput
        {...control}
        list={listId}
        required
        className="font-mono"
        value={value}
        onChange={(event) => onValue(event.target.value)}
      />
      <datalist id={listId}>
        {suggested.data?.results.map(({ endpoint_id, title }) => (
          <option key={endpoint_id} value={endpoint_id}>
            {title}
          </option>
        ))}
      </datalist>
    </>
  );
}
