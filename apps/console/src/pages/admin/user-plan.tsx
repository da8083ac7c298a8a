import type { UserRecord } from "@gantry/sdk";
import { type FormEvent, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { PlanSelect } from "./plan-select.tsx";
import { useChangeUser } from "./use-change-user.ts";

export function UserPlan({ user }: { user: UserRecord }) {
  const [plan, setPlan] = useState(user.plan);
  const changing = useChangeUser(user.username);
  const errors = fieldErrors(changing.error, ["plan"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    changing.mutate({ change: { plan }, done: `${user.username} is now on plan ${plan}` });
  };
  return (
    <form onSubmit={submit}>
      <Field label="Plan" hint="Applies to new requests." error={errors.of.plan}>
        {(control) => (
          <div className="flex gap-2">
            <PlanSelect control={control} value={plan} onPlan={setPlan} />
            <Button type="submit" disabled={plan === user.plan} busy={changing.isPending}>
              Save
            </Button>
          </div>
        )}
      </Field>
    </form>
  );
}
