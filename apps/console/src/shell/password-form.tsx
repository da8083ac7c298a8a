import { type FormEvent, useEffect, useRef, useState } from "react";
import { Button } from "../ui/button.tsx";
import { Field, TextInput } from "../ui/field.tsx";

interface PasswordFormProps {
  busy: boolean;
  /** The only user that may sign in. */
  username?: string | undefined;
  onPassword(credential: { username: string; password: string }): void;
}

/** The password is kept only in the input, never in storage. */
export function PasswordForm({ busy, username: fixed, onPassword }: PasswordFormProps) {
  const [username, setUsername] = useState(fixed ?? "");
  const [password, setPassword] = useState("");
  const first = useRef<HTMLInputElement>(null);
  const second = useRef<HTMLInputElement>(null);
  useEffect(() => (fixed === undefined ? first : second).current?.focus(), [fixed]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onPassword({ username: username.trim(), password });
  };
  return (
    <form className="flex flex-col gap-4" onSubmit={submit}>
      <Field label="Username">
        {(control) => (
          <TextInput
            {...control}
            ref={first}
            name="username"
            autoComplete="username"
            autoCapitalize="none"
            required
            readOnly={fixed !== undefined}
            value={username}
            onChange={(event) => setUsername(event.target.value)}
          />
        )}
      </Field>
      <Field label="Password">
        {(control) => (
          <TextInput
            {...control}
            ref={second}
            type="password"
            name="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      <Button kind="primary" type="submit" busy={busy} disabled={username.trim() === "" || password === ""}>
        Sign in
      </Button>
    </form>
  );
}
