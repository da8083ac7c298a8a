import { type ComponentProps, type ReactNode, useId } from "react";
import { useLiveError } from "./live-errors.tsx";

const box =
  "w-full rounded-md border border-field-line bg-panel px-2.5 placeholder:text-muted " +
  "aria-invalid:border-bad disabled:bg-sunken disabled:text-muted";
/** As high as a button, also for selects and dates. */
const line = `${box} h-8`;

/** Ties a control to its label, hint and error. */
export interface ControlProps {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | undefined;
  required?: boolean;
  children(control: ControlProps): ReactNode;
}

export function Field({ label, hint, error: given, required = false, children }: FieldProps) {
  const id = useId();
  const error = useLiveError(id, given);
  const description = error ?? hint;
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
        {required && <span className="text-muted"> (required)</span>}
      </label>
      {children({
        id,
        "aria-describedby": description === undefined ? undefined : `${id}-description`,
        "aria-invalid": error === undefined ? undefined : true,
      })}
      {description !== undefined && (
        <p id={`${id}-description`} className={`text-xs ${error === undefined ? "text-muted" : "text-bad"}`}>
          {description}
        </p>
      )}
    </div>
  );
}

export function TextInput({ className = "", ...rest }: ComponentProps<"input">) {
  return <input type="text" autoComplete="off" spellCheck={false} {...rest} className={`${line} ${className}`} />;
}

export function TextArea({ className = "", ...rest }: ComponentProps<"textarea">) {
  return <textarea rows={4} {...rest} className={`${box} py-1.5 ${className}`} />;
}

export function CodeArea({ className = "", ...rest }: ComponentProps<"textarea">) {
  return <TextArea spellCheck={false} {...rest} className={`font-mono text-xs ${className}`} />;
}

export function Select({ className = "", ...rest }: ComponentProps<"select">) {
  return <select {...rest} className={`${line} ${className}`} />;
}

export function Checkbox({ label, className = "", ...rest }: ComponentProps<"input"> & { label: ReactNode }) {
  return (
    <label className={`flex items-center gap-2 ${className}`}>
      <input type="checkbox" {...rest} className="size-4 shrink-0 accent-accent" />
      <span>{label}</span>
    </label>
  );
}
