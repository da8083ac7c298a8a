import type { RoleName } from "@gantry/sdk";
import type { UseMutationResult } from "@tanstack/react-query";
import { useState } from "react";
import { useHasWay } from "../../shell/sign-in-ways.ts";
import { Field, Select, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { PlanSelect } from "./plan-select.tsx";

export interface WantedUser {
  username: string;
  plan: string;
  role: RoleName;
  /** Only if passwords are enabled. */
  password?: string;
}

interface UserFormProps {
  creating: UseMutationResult<unknown, Error, WantedUser>;
  onCancel(): void;
}

export function UserForm({ creating, onCancel }: UserFormProps) {
  const [wanted, setWanted] = useState<WantedUser>({ username: "", plan: "free", role: "user" });
  const set = (change: Partial<WantedUser>) => setWanted({ ...wanted, ...change });
  const hasPasswords = useHasWay("password");
  const errors = fieldErrors(creating.error, ["username", "plan", "role", "password"]);
  return (
    <Form
      submit="Create user"
      busy={creating.isPending}
      disabled={wanted.username.trim() === ""}
      errors={errors}
      onSubmit={() => creating.mutate(cleaned(wanted))}
      onCancel={onCancel}
    >
      <Field
        label="Username"
        required
        hint="2 to 39 lowercase letters, digits or hyphens. Part of the user's model names; can't be changed later."
        error={errors.of.username}
      >
        {(control) => (
          <TextInput
            {...control}
            required
            maxLength={39}
            autoCapitalize="none"
            value={wanted.username}
            onChange={(e) => set({ username: e.target.value })}
          />
        )}
      </Field>
      {hasPasswords && (
        <Field
          label="Password"
          hint="Optional. You can also create a reset link on the user's page, so that only they know it."
          error={errors.of.password}
        >
          {(control) => (
            <TextInput
              {...control}
              type="password"
              autoComplete="new-password"
              value={wanted.password ?? ""}
              onChange={(e) => set({ password: e.target.value })}
            />
          )}
        </Field>
      )}
      <Field label="Plan" hint="Rate limits and storage." error={errors.of.plan}>
        {(control) => <PlanSelect control={control} value={wanted.plan} onPlan={(plan) => set({ plan })} />}
      </Field>
      <Field label="Role" hint="Admins have full access to this installation." error={errors.of.role}>
        {(control) => (
          <Select {...control} value={wanted.role} onChange={(e) => set({ role: e.target.value as RoleName })}>
            <option value="user">User</option>
            <option value="admin">Admin</option>
          </Select>
        )}
      </Field>
    </Form>
  );
}

function cleaned({ username, password, ...rest }: WantedUser): WantedUser {
  return { ...rest, username: username.trim(), ...(password && { password }) };
}
