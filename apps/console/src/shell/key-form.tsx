import { type FormEvent, useState } from "react";
import { Button } from "../ui/button.tsx";
import { Field, TextInput } from "../ui/field.tsx";

/** The key is kept only in the input, never in storage. */
export function KeyForm({ busy, onKey }: { busy: boolean; onKey(key: string): void }) {
  const [key, setKey] = useState("");
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
            type="password"
            name="key"
            autoComplete="current-password"
            required
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        )}
      </Field>
      <Button kind="primary" type="submit" busy={busy} disabled={key.trim() === ""}>
        Sign in
      </Button>
    </form>
  );
}
