import type { PlanRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toast.ts";
import { limitIssue, limitOf, limitText, quotaIssue, quotaOf, quotaText } from "./plan-limits.rules.ts";
import { allPlans } from "./plans-query.ts";

interface PutPlanProps {
  label: string;
  icon?: ReactNode;
  /** The one to change; none: a new one. */
  plan?: PlanRecord;
}

export function PutPlan({ label, icon, plan }: PutPlanProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button
        kind={plan ? "quiet" : "primary"}
        icon={icon}
        {...(plan && { "aria-label": `${label} ${plan.name}` })}
        onClick={() => setOpen(true)}
      >
        {label}
      </Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title={plan ? `Change the plan ${plan.name}` : "New plan"}
        description={
          plan ? "It holds from the next request on, for everyone who has it." : "What its users may do at most."
        }
      >
        <PlanForm plan={plan} onDone={close} />
      </Dialog>
    </>
  );
}

function PlanForm({ plan, onDone }: { plan: PlanRecord | undefined; onDone(): void }) {
  const [name, setName] = useState(plan?.name ?? "");
  const [perMinute, setPerMinute] = useState(limitText(plan?.requests_per_minute ?? null));
  const [parallel, setParallel] = useState(limitText(plan?.parallel ?? null));
  const [storage, setStorage] = useState(quotaText(plan?.storage_bytes ?? null));
  const queries = useQueryClient();
  const putting = useMutation({
    meta: { showsFailure: true },
    async mutationFn() {
      // To the service a new plan and a change are the same; here nobody changes one by mistake.
      const plans = plan ? [] : await queries.fetchQuery({ ...allPlans, staleTime: 0 });
      if (plans.some((one) => one.name === name.trim())) throw new Error(`There is a plan ${name.trim()} already`);
      return api.admin.plans.put(name.trim(), {
        requests_per_minute: limitOf(perMinute),
        parallel: limitOf(parallel),
        storage_bytes: quotaOf(storage),
      });
    },
    async onSuccess() {
      toast(plan ? `${plan.name} is changed` : `The plan ${name.trim()} is made`);
      onDone();
      await queries.invalidateQueries({ queryKey: ["admin"] });
    },
  });
  const errors = fieldErrors(putting.error, ["name", "requests_per_minute", "parallel", "storage_bytes"]);
  const issues = { perMinute: limitIssue(perMinute), parallel: limitIssue(parallel), storage: quotaIssue(storage) };
  return (
    <Form
      submit={plan ? "Change it" : "Make the plan"}
      busy={putting.isPending}
      disabled={name.trim() === "" || Object.values(issues).some((issue) => issue !== undefined)}
      errors={errors}
      onSubmit={() => putting.mutate()}
      onCancel={onDone}
    >
      {!plan && (
        <Field label="Name" required hint="a-z, 0-9 and -; it stays." error={errors.of.name}>
          {(control) => (
            <TextInput {...control} required maxLength={39} value={name} onChange={(e) => setName(e.target.value)} />
          )}
        </Field>
      )}
      <Field
        label="Requests a minute"
        hint="Predictions and new runs, over all servers. Empty: no limit."
        error={issues.perMinute ?? errors.of.requests_per_minute}
      >
        {(control) => (
          <TextInput
            {...control}
            inputMode="numeric"
            placeholder="No limit"
            value={perMinute}
            onChange={(e) => setPerMinute(e.target.value)}
          />
        )}
      </Field>
      <Field
        label="At once"
        hint="Predictions, and runs of agents, at the same time. Queued ones beyond it wait. Empty: no limit."
        error={issues.parallel ?? errors.of.parallel}
      >
        {(control) => (
          <TextInput
            {...control}
            inputMode="numeric"
            placeholder="No limit"
            value={parallel}
            onChange={(e) => setParallel(e.target.value)}
          />
        )}
      </Field>
      <Field
        label="Storage (MB)"
        hint="Uploads and drives of each user. Empty: the server's default. 0: no quota."
        error={issues.storage ?? errors.of.storage_bytes}
      >
        {(control) => (
          <TextInput
            {...control}
            inputMode="decimal"
            placeholder="Server's default"
            value={storage}
            onChange={(e) => setStorage(e.target.value)}
          />
        )}
      </Field>
    </Form>
  );
}
