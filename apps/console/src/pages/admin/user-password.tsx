import { type FormEvent, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Failure } from "../../ui/notice.tsx";
import { useChangeUser } from "./use-change-user.ts";

const shortest = 8;

/** The API does not reveal whether a password is set, so both buttons are always offered. */
export function UserPassword({ username }: { username: string }) {
  const [password, setPassword] = useState("");
  const setting = useChangeUser(username, { showsFailure: true });
  const removing = useChangeUser(username);
  const errors = fieldErrors(setting.error, ["password"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setting.mutate({ change: { password }, done: `Password of ${username} set` }, { onSuccess: () => setPassword("") });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <Field label="New password" hint={`At least ${shortest} characters.`} error={errors.of.password}>
        {(control) => (
          <div className="flex flex-wrap gap-2 sm:flex-nowrap">
            <TextInput
              {...control}
              type="password"
              autoComplete="new-password"
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
            <Button type="submit" disabled={password.length < shortest} busy={setting.isPending}>
              Set password
            </Button>
            <ConfirmButton
              label="Remove"
              question={`Remove the password of ${username}?`}
              explanation="Their keys keep working."
              onConfirm={() =>
                removing.mutateAsync({ change: { password: null }, done: `Password of ${username} removed` })
              }
            />
          </div>
        )}
      </Field>
      {errors.rest !== undefined && <Failure error={errors.rest} />}
    </form>
  );
}
