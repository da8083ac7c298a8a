import type { CreateRunBody } from "@gantry/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { api } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { CodeArea, Field } from "../../../ui/field.tsx";
import { fieldErrors } from "../../../ui/field-errors.rules.ts";
import { readObject } from "../../../ui/json.rules.ts";
import { MayHaveSucceeded } from "../../../ui/may-have-succeeded.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { SchemaField } from "../../../ui/schema-field.tsx";
import { type ReadFields, readFields, schemaFields, type Typed } from "../../../ui/schema-form.rules.ts";
import { toast } from "../../../ui/toast.ts";
import { useIdempotentMutation } from "../../../ui/use-idempotent-mutation.ts";
import { limitsOf, noLimits } from "./run-limits.rules.ts";
import { RunLimits } from "./run-limits.tsx";

interface RunFormProps {
  /** An id, or `creator/slug`. */
  agent: string;
  schema: Record<string, unknown>;
  label: string;
  /** Further fields of the request. */
  body?: Pick<CreateRunBody, "revision_id" | "connectors" | "expected_price">;
  children?: ReactNode;
}

/** Starts a run and opens its page. */
export function RunForm({ agent, schema, label, body, children }: RunFormProps) {
  const fields = schemaFields(schema);
  /** A schema without fields gets a JSON input. */
  const isForm = fields.length > 0;
  const [typed, setTyped] = useState<Typed>({});
  const [json, setJson] = useState("{}");
  const [limits, setLimits] = useState(noLimits);
  const [faults, setFaults] = useState<Record<string, string>>({});
  const queries = useQueryClient();
  const navigate = useNavigate();
  const starting = useIdempotentMutation({
    meta: { showsFailure: true },
    send: (wanted: CreateRunBody, idempotencyKey) => api.runs.create(agent, wanted, { idempotencyKey }),
    async onSuccess({ id }) {
      await queries.invalidateQueries({ queryKey: ["runs"] });
      toast("Run started");
      await navigate({ to: "/runs/$runId", params: { runId: id } });
    },
    // The failure may be a changed price, which must be shown before the next attempt.
    onError: () => queries.invalidateQueries({ queryKey: ["marketplace"] }),
  });
  const errors = fieldErrors(starting.error, [
    ...(isForm ? fields.map(({ name }) => `input.${name}`) : ["input"]),
    ...["max_cost", "timeout_seconds", "max_steps"],
  ]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { values, faults: found } = isForm ? readFields(fields, typed) : readWhole(json);
    const limited = limitsOf(limits);
    setFaults({ ...found, ...(!limited && { limits: "Limits must be numbers" }) });
    if (Object.keys(found).length === 0 && limited) starting.mutate({ input: values, ...limited, ...body });
  };
  return (
    <form className="flex flex-col gap-4" onSubmit={submit} noValidate>
      {isForm ? (
        fields.map((field) => (
          <SchemaField
            key={field.name}
            field={field}
            value={typed[field.name] ?? field.initial}
            error={faults[field.name] ?? errors.of[`input.${field.name}`]}
            onValue={(value) => setTyped({ ...typed, [field.name]: value })}
          />
        ))
      ) : (
        <Field label="Input" hint="JSON object. This agent accepts any input." error={faults.input ?? errors.of.input}>
          {(control) => (
            <CodeArea {...control} rows={4} value={json} onChange={(event) => setJson(event.target.value)} />
          )}
        </Field>
      )}
      <RunLimits limits={limits} errors={errors.of} onChange={setLimits} />
      {faults.limits && <p className="text-bad">{faults.limits}</p>}
      {children}
      {errors.rest !== undefined && <Failure error={errors.rest} />}
      <MayHaveSucceeded error={starting.error} />
      <div>
        <Button kind="primary" type="submit" icon={<Play size={14} />} busy={starting.isPending}>
          {label}
        </Button>
      </div>
    </form>
  );
}

function readWhole(text: string): ReadFields {
  const read = readObject(text.trim() === "" ? "{}" : text);
  return "fault" in read ? { values: {}, faults: { input: read.fault } } : { values: read.value, faults: {} };
}
