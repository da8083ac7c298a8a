import type { TriggerRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { schemaFields } from "../../ui/schema-form.rules.ts";
import { toast } from "../../ui/toast.ts";
import { costFault } from "../schedules/schedule-form.rules.ts";
import { enteredOf, newTrigger, triggerBody } from "./trigger-form.rules.ts";
import { TriggerInput } from "./trigger-input.tsx";
import { TriggerLimits, TriggerSender } from "./trigger-parts.tsx";

interface TriggerDialogProps {
  agent: { id: string; name: string; schema: Record<string, unknown> };
  /** Undefined: a new one. */
  trigger?: TriggerRecord | undefined;
  /** The address of a new trigger, which is shown once. */
  onCreated?(url: string, isSigned: boolean): void;
  onClose(): void;
}

const shownFields = [
  ...["name", "input", "verification", "verification.secret", "verification.header", "verification.prefix"],
  ...["delivery_id", "overlap", "max_cost", "approve", "thread_id"],
];

export function TriggerDialog({ agent, trigger, onCreated, onClose }: TriggerDialogProps) {
  const [entered, setEntered] = useState(() =>
    trigger
      ? enteredOf(trigger)
      : newTrigger(schemaFields(agent.schema).flatMap(({ name, isRequired }) => (isRequired ? [name] : []))),
  );
  const [fault, setFault] = useState<string>();
  const queries = useQueryClient();
  const saving = useMutation({
    meta: { showsFailure: true },
    async mutationFn(body: Extract<ReturnType<typeof triggerBody>, { body: unknown }>["body"]) {
      if (trigger) {
        await api.triggers.update(trigger.id, body);
        return undefined;
      }
      return (await api.triggers.create(agent.id, body)).url;
    },
    async onSuccess(url) {
      await queries.invalidateQueries({ queryKey: ["triggers"] });
      onClose();
      if (url === undefined) toast("Trigger saved");
      else onCreated?.(url, entered.verification !== "none");
    },
  });
  const errors = fieldErrors(saving.error, shownFields);
  const wrongCost = costFault(entered.maxCost);
  const shown: Readonly<Record<string, string>> = {
    ...errors.of,
    ...(wrongCost && { max_cost: wrongCost }),
    ...(fault && { input: fault }),
  };
  const part = { entered, errors: shown, onChange: setEntered };
  return (
    <Dialog
      wide
      open
      onClose={onClose}
      title={trigger ? "Edit trigger" : `New trigger of ${agent.name}`}
      description="Another service starts the agent by sending a request to an address of its own."
    >
      <Form
        submit={trigger ? "Save" : "Create trigger"}
        busy={saving.isPending}
        disabled={wrongCost !== undefined}
        errors={errors}
        onSubmit={() => {
          const read = triggerBody(entered, trigger);
          setFault("fault" in read ? read.fault : undefined);
          if ("body" in read) saving.mutate(read.body);
        }}
        onCancel={onClose}
      >
        <Field label="Name" hint="Optional. Shown in lists." error={shown.name}>
          {(control) => (
            <TextInput
              {...control}
              maxLength={100}
              value={entered.name}
              onChange={(event) => setEntered({ ...entered, name: event.target.value })}
            />
          )}
        </Field>
        <TriggerSender {...part} hasSecret={trigger?.verification?.type === entered.verification} />
        <TriggerInput {...part} />
        <TriggerLimits {...part} />
      </Form>
    </Dialog>
  );
}
