import { Field, Select, TextInput } from "../../ui/field.tsx";
import { ApproveField } from "../automations/approve-field.tsx";
import type { EnteredTrigger } from "./trigger-form.rules.ts";

export interface TriggerPartProps {
  entered: EnteredTrigger;
  errors: Readonly<Record<string, string>>;
  onChange(entered: EnteredTrigger): void;
}

const senders: readonly [value: EnteredTrigger["verification"], label: string][] = [
  ["none", "Not signed"],
  ["standard_webhooks", "Standard Webhooks"],
  ["github", "GitHub"],
  ["stripe", "Stripe"],
  ["hmac", "Other: HMAC in a header"],
];

/** How requests of the sender are verified and told apart. */
export function TriggerSender({ entered, errors, onChange, hasSecret }: TriggerPartProps & { hasSecret: boolean }) {
  const set = (change: Partial<EnteredTrigger>) => onChange({ ...entered, ...change });
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field
        label="Verification"
        error={errors.verification}
        hint="Without a signature, the secret in the address is enough."
      >
        {(control) => (
          <Select
            {...control}
            value={entered.verification}
            onChange={(event) => set({ verification: event.target.value as EnteredTrigger["verification"] })}
          >
            {senders.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {entered.verification !== "none" && (
        <Field
          label="Signing secret"
          error={errors["verification.secret"]}
          hint={hasSecret ? "Empty: the stored secret stays." : "As the sender shows it. Stored encrypted."}
        >
          {(control) => (
            <TextInput
              {...control}
              type="password"
              autoComplete="new-password"
              value={entered.secret}
              onChange={(event) => set({ secret: event.target.value })}
            />
          )}
        </Field>
      )}
      {entered.verification === "hmac" && <HmacFields entered={entered} errors={errors} onChange={onChange} />}
      <Field
        label="Delivery ID"
        error={entered.deliveryId === "usual" ? errors.delivery_id : undefined}
        hint="A request with the id of an earlier one starts no second run."
      >
        {(control) => (
          <Select
            {...control}
            value={entered.deliveryId}
            onChange={(event) => set({ deliveryId: event.target.value as EnteredTrigger["deliveryId"] })}
          >
            <option value="usual">As the sender usually sends it</option>
            <option value="header">In a header</option>
            <option value="path">In the body</option>
          </Select>
        )}
      </Field>
      {entered.deliveryId !== "usual" && (
        <Field
          label={entered.deliveryId === "header" ? "Header of the id" : "Path of the id"}
          error={errors.delivery_id}
          hint={entered.deliveryId === "header" ? "Such as X-Request-Id." : "Such as event.id."}
        >
          {(control) => (
            <TextInput
              {...control}
              value={entered.deliveryIdAt}
              onChange={(event) => set({ deliveryIdAt: event.target.value })}
            />
          )}
        </Field>
      )}
    </div>
  );
}

function HmacFields({ entered, errors, onChange }: TriggerPartProps) {
  const set = (change: Partial<EnteredTrigger>) => onChange({ ...entered, ...change });
  return (
    <>
      <Field label="Signature header" error={errors["verification.header"]} hint="Such as X-Signature.">
        {(control) => (
          <TextInput {...control} value={entered.header} onChange={(event) => set({ header: event.target.value })} />
        )}
      </Field>
      <Field label="Text before the signature" error={errors["verification.prefix"]} hint="Optional, such as sha256=.">
        {(control) => (
          <TextInput {...control} value={entered.prefix} onChange={(event) => set({ prefix: event.target.value })} />
        )}
      </Field>
      <Field label="Algorithm">
        {(control) => (
          <Select
            {...control}
            value={entered.algorithm}
            onChange={(event) => set({ algorithm: event.target.value as EnteredTrigger["algorithm"] })}
          >
            <option value="sha256">SHA-256</option>
            <option value="sha512">SHA-512</option>
            <option value="sha1">SHA-1</option>
          </Select>
        )}
      </Field>
      <Field label="Encoding">
        {(control) => (
          <Select
            {...control}
            value={entered.encoding}
            onChange={(event) => set({ encoding: event.target.value as EnteredTrigger["encoding"] })}
          >
            <option value="hex">Hexadecimal</option>
            <option value="base64">Base64</option>
          </Select>
        )}
      </Field>
    </>
  );
}

export function TriggerLimits({ entered, errors, onChange }: TriggerPartProps) {
  const set = (change: Partial<EnteredTrigger>) => onChange({ ...entered, ...change });
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="If several requests arrive" error={errors.overlap}>
          {(control) => (
            <Select
              {...control}
              value={entered.overlap}
              onChange={(event) => set({ overlap: event.target.value as EnteredTrigger["overlap"] })}
            >
              <option value="parallel">Run at the same time</option>
              <option value="queue">Run one after another</option>
            </Select>
          )}
        </Field>
        <Field label="Max cost per run ($)" hint="Default: limited only by your balance." error={errors.max_cost}>
          {(control) => (
            <TextInput
              {...control}
              inputMode="decimal"
              value={entered.maxCost}
              onChange={(event) => set({ maxCost: event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Thread"
          error={errors.thread_id}
          hint={
            <>
              Optional template. Requests with the same text continue one conversation, such as{" "}
              <code>{"issue-{{body.issue.number}}"}</code>.
            </>
          }
        >
          {(control) => (
            <TextInput {...control} value={entered.thread} onChange={(event) => set({ thread: event.target.value })} />
          )}
        </Field>
      </div>
      <ApproveField value={entered.approve} error={errors.approve} onChange={(approve) => set({ approve })} />
    </>
  );
}
