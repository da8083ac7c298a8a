import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { api } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Field, TextArea } from "../../../ui/field.tsx";
import { fieldErrors } from "../../../ui/field-errors.rules.ts";
import { Failure } from "../../../ui/notice.tsx";
import { toast } from "../../../ui/toast.ts";
import { readObject } from "../json.rules.ts";
import { RunField } from "./run-field.tsx";
import { inputOf, runFieldsOf, type Written } from "./run-fields.rules.ts";
import { limitsOf, noLimits } from "./run-limits.rules.ts";
import { RunLimits } from "./run-limits.tsx";

interface RunFormProps {
  /** An id, or `creator/slug`. */
  agent: string;
  schema: Record<string, unknown>;
  label: string;
  /** What else is sent. */
  body?: { revision_id?: string | undefined; connectors?: "idp"[] | undefined };
  children?: ReactNode;
}

/** The input of a run, asked for as the agent's schema says; starts it and goes to see it. */
export function RunForm({ agent, schema, label, body, children }: RunFormProps) {
  const fields = runFieldsOf(schema);
  const [written, setWritten] = useState<Written>({});
  const [json, setJson] = useState("{}");
  const [limits, setLimits] = useState(noLimits);
  const [faults, setFaults] = useState<Record<string, string>>({});
  const queries = useQueryClient();
  const navigate = useNavigate();
  const starting = useMutation({
    meta: { showsFailure: true },
    mutationFn: (input: Record<string, unknown>) => api.runs.create(agent, { input, ...limitsOf(limits), ...body }),
    async onSuccess({ id }) {
      await queries.invalidateQueries({ queryKey: ["runs"] });
      toast("The run has started");
      await navigate({ to: "/runs/$runId", params: { runId: id } });
    },
  });
  const errors = fieldErrors(starting.error, [
    ...(fields?.map(({ name }) => `input.${name}`) ?? ["input"]),
    ...["max_cost", "timeout_seconds", "max_steps"],
  ]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const read = fields ? inputOf(fields, written) : readWhole(json);
    const isLimited = limitsOf(limits) !== undefined;
    setFaults({ ...("faults" in read && read.faults), ...(!isLimited && { limits: "Limits must be numbers" }) });
    if ("input" in read && isLimited) starting.mutate(read.input);
  };
  return (
    <form className="flex flex-col gap-4" onSubmit={submit} noValidate>
      {fields ? (
        fields.map((field) => (
          <RunField
            key={field.name}
            field={field}
            value={written[field.name] ?? field.initial}
            error={faults[field.name] ?? errors.of[`input.${field.name}`]}
            onChange={(value) => setWritten({ ...written, [field.name]: value })}
          />
        ))
      ) : (
        <Field
          label="Input"
          hint="A JSON object; this agent asks for nothing in particular."
          error={faults.input ?? errors.of.input}
        >
          {(control) => (
            <TextArea
              {...control}
              rows={4}
              spellCheck={false}
              className="font-mono text-xs"
              value={json}
              onChange={(event) => setJson(event.target.value)}
            />
          )}
        </Field>
      )}
      <RunLimits limits={limits} errors={errors.of} onChange={setLimits} />
      {faults.limits && <p className="text-bad">{faults.limits}</p>}
      {children}
      {errors.rest !== undefined && <Failure error={errors.rest} />}
      <div>
        <Button kind="primary" type="submit" icon={<Play size={14} />} busy={starting.isPending}>
          {label}
        </Button>
      </div>
    </form>
  );
}

function readWhole(text: string): ReturnType<typeof inputOf> {
  const read = readObject(text.trim() === "" ? "{}" : text);
  return "fault" in read ? { faults: { input: read.fault } } : { input: read.value };
}
