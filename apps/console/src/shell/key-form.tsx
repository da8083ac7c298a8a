import { type FormEvent, useEffect, useRef, useState } from "react";
import { Button } from "../ui/button.tsx";
import { Field, TextInput } from "../ui/field.tsx";

interface KeyFormProps {
  busy: boolean;
  /** Another form comes first. */
  isSecond?: boolean;
  onKey(key: string): void;
}

/** The key is kept only in the input, never in storage. */
export function KeyForm({ busy, isSecond = false, onKey }: KeyFormProps) {
  const [key, setKey] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!isSecond) field.current?.focus();
  }, [isSecond]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onKey(key.trim());
  };
  return (
    <form className="flex flex-col gap-4" onSubmit={submit}>
      <Field label="API key" hint="Starts with gk_.">
        {(control) => (
          <TextInput
            {...control}
            ref={field}
            type="password"
            name="key"
            autoComplete={isSecond ? "off" : "current-password"}
            required
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        )}
      </Field>
      <Button kind={isSecond ? "plain" : "primary"} type="submit" busy={busy} disabled={key.trim() === ""}>
        {isSecond ? "Sign in with API key" : "Sign in"}
      </Button>
    </form>
  );
}
