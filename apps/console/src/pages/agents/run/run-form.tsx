import type { CreateRunBody } from "@gantry/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { api } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { fieldErrors } from "../../../ui/field-errors.rules.ts";
import { MayHaveSucceeded } from "../../../ui/may-have-succeeded.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { useIdempotentMutation } from "../../../ui/use-idempotent-mutation.ts";
import { useIsShown } from "../../../ui/use-is-shown.ts";
import { AgentInput, useAgentInput } from "./agent-input.tsx";
import { limitsOf, noLimits } from "./run-limits.rules.ts";
import { RunLimits } from "./run-limits.tsx";

interface RunFormProps {
  /** An id, or `creator/slug`. */
  agent: string;
  schema: Record<string, unknown>;
  label: string;
  /** Further fields of the request. */
  body?: Pick<CreateRunBody, "revision_id" | "connectors" | "expected_price">;
  /** The input to begin with, such as that of an earlier run. */
  initial?: Record<string, unknown>;
  /** Runs before the request, for example to save a draft, and completes its body. */
  prepare?(wanted: CreateRunBody): Promise<CreateRunBody>;
  /** Replaces the request. */
  send?(wanted: CreateRunBody, idempotencyKey: string): Promise<{ id: string }>;
  /** Replaces opening the page of the run. */
  onStarted?(runId: string): void | Promise<void>;
  children?: ReactNode;
}

/** Starts a run and opens its page. */
export function RunForm({ agent, schema, label, body, initial, prepare, send, onStarted, children }: RunFormProps) {
  const entered = useAgentInput(schema, initial);
  const [limits, setLimits] = useState(noLimits);
  const [limitsFault, setLimitsFault] = useState<string>();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const isShown = useIsShown();
  const starting = useIdempotentMutation({
    meta: { showsFailure: true },
    ...(prepare && { prepare }),
    send: (wanted: CreateRunBody, idempotencyKey): Promise<{ id: string }> =>
      send ? send(wanted, idempotencyKey) : api.runs.create(agent, wanted, { idempotencyKey }),
    async onSuccess({ id }) {
      if (onStarted) return onStarted(id);
      await queries.invalidateQueries({ queryKey: ["runs"] });
      if (isShown()) await navigate({ to: "/runs/$runId", params: { runId: id } });
    },
    // The failure may be a changed price, which must be shown before the next attempt.
    onError: () => queries.invalidateQueries({ queryKey: ["marketplace"] }),
  });
  const errors = fieldErrors(starting.error, [...entered.names, "max_cost", "timeout_seconds", "max_steps"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const input = entered.read();
    const limited = limitsOf(limits);
    setLimitsFault(limited ? undefined : "Limits must be numbers");
    if (input && limited) starting.mutate({ input, ...limited, ...body });
  };
  return (
    <form className="flex flex-col gap-4" onSubmit={submit} noValidate>
      <AgentInput input={entered} errors={errors.of} />
      <RunLimits limits={limits} errors={errors.of} onChange={setLimits} />
      {limitsFault && <p className="text-bad">{limitsFault}</p>}
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
