import type { UserRecord } from "@gantry/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Field, Select, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { money } from "../../ui/format.ts";
import { MayBeDone } from "../../ui/may-be-done.tsx";
import { Panel } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";
import { useSentOnce } from "../../ui/use-sent-once.ts";
import { balanceAfter, signedAmount } from "./credit.rules.ts";

type Direction = "add" | "take";

/** Money in or out of a wallet, with the balance that comes of it. */
export function UserMoney({ user: { username, balance } }: { user: UserRecord }) {
  const [direction, setDirection] = useState<Direction>("add");
  const [text, setText] = useState("");
  const [reason, setReason] = useState("");
  const queries = useQueryClient();
  const moving = useSentOnce({
    meta: { showsFailure: true },
    send: (credit: { amount: number; reason: string }, idempotencyKey) =>
      api.admin.users.credit(username, credit, { idempotencyKey }),
    onSuccess({ balance: after }) {
      toast(`The balance of ${username} is ${money(after)}`);
      setDirection("add");
      setText("");
      setReason("");
    },
    // Also after a failure: it may have been booked.
    onSettled: () => queries.invalidateQueries({ queryKey: ["admin"] }),
  });
  const errors = fieldErrors(moving.error, ["amount", "reason"]);
  const amount = signedAmount(text, direction);
  const verb = direction === "add" ? "Add" : "Take away";
  return (
    <Panel title="Add or take money">
      <Form
        submit={amount === undefined ? verb : `${verb} ${money(Math.abs(amount))}`}
        busy={moving.isPending}
        disabled={amount === undefined || reason.trim() === ""}
        errors={errors}
        onSubmit={() => amount !== undefined && moving.mutate({ amount, reason: reason.trim() })}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Direction">
            {(control) => (
              <Select {...control} value={direction} onChange={(e) => setDirection(e.target.value as Direction)}>
                <option value="add">Add</option>
                <option value="take">Take away</option>
              </Select>
            )}
          </Field>
          <Field
            label="Amount in dollars"
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
                  // What was wrong with the last amount hides what this one comes to.
                  if (moving.isError) moving.reset();
                  setText(e.target.value);
                }}
              />
            )}
          </Field>
        </div>
        <Field
          label="Reason"
          required
          hint="Stands in the ledger beside the amount, and the user sees it."
          error={errors.of.reason}
        >
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
        <MayBeDone error={moving.error} />
      </Form>
    </Panel>
  );
}

function After({ balance, amount }: { balance: number; amount: number | undefined }) {
  if (amount === undefined) return `Balance now: ${money(balance)}`;
  const after = balanceAfter(balance, amount);
  return (
    <span className={after < 0 ? "text-warn" : ""}>
      Balance after: {money(after)}
      {after < 0 && ", below zero: nothing that costs something is accepted then"}
    </span>
  );
}
