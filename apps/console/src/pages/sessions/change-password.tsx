import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { signInWaysQuery } from "../../shell/sign-in-ways.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { NewPasswordFields } from "../../ui/new-password-fields.tsx";
import { toast } from "../../ui/toast.ts";

const unfilled = { current: "", text: "", again: "" };

export function ChangePassword() {
  const [isOpen, setOpen] = useState(false);
  const [given, setGiven] = useState(unfilled);
  const queries = useQueryClient();
  const minLength = useQuery(signInWaysQuery).data?.min_password_length;
  const changing = useMutation({
    meta: { showsFailure: true },
    gcTime: 0,
    mutationFn: () => api.account.changePassword({ current_password: given.current, new_password: given.text }),
    async onSuccess() {
      close();
      toast("Password changed. Your other sessions have ended.");
      await queries.invalidateQueries({ queryKey: ["sessions"] });
    },
  });
  const close = () => {
    setOpen(false);
    setGiven(unfilled);
    changing.reset();
  };
  const errors = fieldErrors(changing.error, ["current_password", "new_password"]);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Change password</Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title="Change password"
        description="Your other sessions end. API keys keep working."
      >
        <Form
          submit="Change password"
          busy={changing.isPending}
          disabled={given.current === "" || given.text === "" || given.text !== given.again}
          errors={errors}
          onSubmit={() => changing.mutate()}
          onCancel={close}
        >
          <Field label="Current password" required error={errors.of.current_password}>
            {(control) => (
              <TextInput
                {...control}
                type="password"
                autoComplete="current-password"
                required
                value={given.current}
                onChange={(event) => setGiven({ ...given, current: event.target.value })}
              />
            )}
          </Field>
          <NewPasswordFields
            value={given}
            minLength={minLength}
            error={errors.of.new_password}
            onChange={(value) => setGiven({ ...given, ...value })}
          />
        </Form>
      </Dialog>
    </>
  );
}
