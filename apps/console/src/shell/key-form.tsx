import { type FormEvent, useState } from "react";
import { Button } from "../ui/button.tsx";
import { Field, TextInput } from "../ui/field.tsx";

/** Signs in with a key, which is kept nowhere but in the field. */
export function KeyForm({ busy, onKey }: { busy: boolean; onKey(key: string): void }) {
  const [key, setKey] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onKey(key.trim());
  };
  return (
    <form className="flex flex-col gap-4" onSubmit={submit}>
      <Field label="API key" hint="It begins with gk_ unless the operator chose another.">
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
