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
  /** Undefined: create a plan. */
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
        title={plan ? `Edit plan ${plan.name}` : "New plan"}
        description={
          plan ? "Applies to new requests of all users with this plan." : "Limits for each user with this plan."
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
      // The API has one call for both. Creating a plan must not overwrite an existing one.
      const plans = plan ? [] : await queries.fetchQuery({ ...allPlans, staleTime: 0 });
      if (plans.some((existing) => existing.name === name.trim()))
        throw new Error(`Plan ${name.trim()} already exists`);
      return api.admin.plans.put(name.trim(), {
        requests_per_minute: limitOf(perMinute),
        parallel: limitOf(parallel),
        storage_bytes: quotaOf(storage),
      });
    },
    async onSuccess() {
      toast(plan ? `Plan ${plan.name} saved` : `Plan ${name.trim()} created`);
      onDone();
      await queries.invalidateQueries({ queryKey: ["admin"] });
    },
  });
  const errors = fieldErrors(putting.error, ["name", "requests_per_minute", "parallel", "storage_bytes"]);
  const issues = { perMinute: limitIssue(perMinute), parallel: limitIssue(parallel), storage: quotaIssue(storage) };
  return (
    <Form
      submit={plan ? "Save plan" : "Create plan"}
      busy={putting.isPending}
      disabled={name.trim() === "" || Object.values(issues).some((issue) => issue !== undefined)}
      errors={errors}
      onSubmit={() => putting.mutate()}
      onCancel={onDone}
    >
      {!plan && (
        <Field
          label="Name"
          required
          hint="Lowercase letters, digits and hyphens. Can't be changed later."
          error={errors.of.name}
        >
          {(control) => (
            <TextInput {...control} required maxLength={39} value={name} onChange={(e) => setName(e.target.value)} />
          )}
        </Field>
      )}
      <Field
        label="Requests per minute"
        hint="Predictions and new runs, across all servers. Leave empty for no limit."
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
        label="Concurrent"
        hint="Predictions and agent runs at the same time. Queued work above the limit waits. Leave empty for no limit."
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
        hint="Uploads, drives, stored responses and files of batches of each user. Leave empty for the server's default; 0 means unlimited."
        error={issues.storage ?? errors.of.storage_bytes}
      >
        {(control) => (
          <TextInput
            {...control}
            inputMode="decimal"
            placeholder="Server default"
            value={storage}
            onChange={(e) => setStorage(e.target.value)}
          />
        )}
      </Field>
    </Form>
  );
}
