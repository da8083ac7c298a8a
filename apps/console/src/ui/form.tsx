import { type FormEvent, type ReactNode, useEffect, useRef } from "react";
import { Button } from "./button.tsx";
import { isSaidAt } from "./issues.rules.ts";
import { Failure } from "./notice.tsx";

interface FormProps {
  onSubmit(): void;
  /** What the button says that sends it. */
  submit: string;
  busy: boolean;
  disabled?: boolean;
  /** Why it failed last, null if it did not. */
  error: unknown;
  /** Those that say themselves what is wrong with them. */
  fields: readonly string[];
  onCancel?: (() => void) | undefined;
  children: ReactNode;
}

/** What a form has beside its fields: the failure, the button, and the way to the field that is wrong. */
export function Form({ onSubmit, submit, busy, disabled = false, error, fields, onCancel, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [error]);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!busy && !disabled) onSubmit();
  };
  return (
    <form ref={form} className="flex flex-col gap-4" onSubmit={send} noValidate>
      {children}
      {Boolean(error) && !isSaidAt(error, fields) && <Failure error={error} />}
      <div className="flex justify-end gap-2">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button kind="primary" type="submit" busy={busy} disabled={disabled}>
          {submit}
        </Button>
      </div>
    </form>
  );
}
