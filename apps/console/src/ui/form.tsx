import { type FormEvent, type ReactNode, useEffect, useRef } from "react";
import { Button } from "./button.tsx";
import type { FieldErrors } from "./field-errors.rules.ts";
import { LiveErrors } from "./live-errors.tsx";
import { Failure } from "./notice.tsx";

interface FormProps {
  onSubmit(): void;
  /** Label of the submit button. */
  submit: string;
  busy: boolean;
  disabled?: boolean;
  /** Errors of the last attempt. The fields show their own. */
  errors: FieldErrors;
  onCancel?: (() => void) | undefined;
  /** Label of the button that cancels. */
  cancel?: string;
  children: ReactNode;
}

/** Shows the failure, and moves focus to the first invalid field. */
export function Form({
  onSubmit,
  submit,
  busy,
  disabled = false,
  errors,
  onCancel,
  cancel = "Cancel",
  children,
}: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (errors.failure) form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [errors.failure]);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!busy && !disabled) onSubmit();
  };
  return (
    <form ref={form} className="flex flex-col gap-4" onSubmit={send} noValidate>
      <LiveErrors errors={errors}>{children}</LiveErrors>
      {errors.rest !== undefined && <Failure error={errors.rest} />}
      <div className="flex justify-end gap-2">
        {onCancel && <Button onClick={onCancel}>{cancel}</Button>}
        <Button kind="primary" type="submit" busy={busy} disabled={disabled}>
          {submit}
        </Button>
      </div>
    </form>
  );
}
