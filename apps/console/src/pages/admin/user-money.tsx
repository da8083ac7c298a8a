import type { UserRecord } from "@gantry/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Field, Select, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { money } from "../../ui/format.ts";
import { MayHaveSucceeded } from "../../ui/may-have-succeeded.tsx";
import { Panel } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";
import { useIdempotentMutation } from "../../ui/use-idempotent-mutation.ts";
import { balanceAfter, signedAmount } from "./credit.rules.ts";

type Direction = "add" | "take";

export function UserMoney({ user: { username, balance } }: { user: UserRecord }) {
  const [direction, setDirection] = useState<Direction>("add");
  const [text, setText] = useState("");
  const [reason, setReason] = useState("");
  const queries = useQueryClient();
  const moving = useIdempotentMutation({
    meta: { showsFailure: true },
    send: (credit: { amount: number; reason: string }, idempotencyKey) =>
      api.admin.users.credit(username, credit, { idempotencyKey }),
    onSuccess({ balance: after }) {
      toast(`New balance of ${username}: ${money(after)}`);
      setDirection("add");
      setText("");
      setReason("");
    },
    // Also after a failure: the credit may have been booked.
    onSettled: () => queries.invalidateQueries({ queryKey: ["admin"] }),
  });
  const errors = fieldErrors(moving.error, ["amount", "reason"]);
  const amount = signedAmount(text, direction);
  const verb = direction === "add" ? "Add" : "Remove";
  return (
    <Panel title="Adjust balance">
      <Form
        submit={amount === undefined ? verb : `${verb} ${money(Math.abs(amount))}`}
        busy={moving.isPending}
        disabled={amount === undefined || reason.trim() === ""}
        errors={errors}
        onSubmit={() => amount !== undefined && moving.mutate({ amount, reason: reason.trim() })}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Change">
            {(control) => (
              <Select {...control} value={direction} onChange={(e) => setDirection(e.target.value as Direction)}>
                <option value="add">Add credit</option>
                <option value="take">Remove credit</option>
              </Select>
            )}
          </Field>
          <Field
            label="Amount ($)"
            required
            hint={<After balance={balance} amount={amount} />}
            error={errors.of.amount}
          >
            {(control) => (
              <TextInput
                {...control}
                required
                inputMode="decimal"
                placeholder="0.00"
                value={text}
                onChange={(e) => {
                  // The error would hide the preview of the new balance.
                  if (moving.isError) moving.reset();
                  setText(e.target.value);
                }}
              />
            )}
          </Field>
        </div>
        <Field label="Reason" required hint="Shown in the ledger and to the user." error={errors.of.reason}>
          {(control) => (
            <TextInput
              {...control}
              required
              maxLength={500}
              value={reason}
              onChange={(e) => setReason(e.target.value)}
            />
          )}
        </Field>
        <MayHaveSucceeded error={moving.error} />
      </Form>
    </Panel>
  );
}

function After({ balance, amount }: { balance: number; amount: number | undefined }) {
  if (amount === undefined) return `Current balance: ${money(balance)}`;
  const after = balanceAfter(balance, amount);
  return (
    <span className={after < 0 ? "text-warn" : ""}>
      New balance: {money(after)}
      {after < 0 && ". Paid requests are refused while the balance is negative."}
    </span>
  );
}
