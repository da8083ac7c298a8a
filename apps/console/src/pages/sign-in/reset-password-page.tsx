import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { resetPassword } from "../../api/session.ts";
import { enter } from "../../shell/session-watch.ts";
import { signInWaysQuery } from "../../shell/sign-in-ways.ts";
import { showTitle } from "../../ui/document-title.ts";
import { fieldErrors } from "../../ui/field-errors.rules.ts";
import { Form } from "../../ui/form.tsx";
import { NewPasswordFields } from "../../ui/new-password-fields.tsx";
import { Notice } from "../../ui/notice.tsx";
import { SignInFrame } from "./sign-in-frame.tsx";
import { useLinkToken } from "./use-link-token.ts";

/** Opened by a link from an admin, with its token after the #. */
export function ResetPasswordPage() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [token] = useLinkToken();
  const [password, setPassword] = useState({ text: "", again: "" });
  const minLength = useQuery(signInWaysQuery).data?.min_password_length;
  const resetting = useMutation({
    meta: { showsFailure: true },
    gcTime: 0,
    mutationFn: resetPassword,
    async onSuccess(entered) {
      await enter(queries, entered, true);
      await navigate({ to: "/", replace: true });
    },
  });
  useEffect(() => showTitle("Set a new password"), []);
  return (
    <SignInFrame title="Set a new password">
      {token === undefined ? (
        <Notice tone="bad" title="This link is not complete. Copy all of it, or ask an admin for a new one." />
      ) : (
        <Form
          submit="Set password"
          busy={resetting.isPending}
          disabled={password.text === "" || password.text !== password.again}
          errors={fieldErrors(resetting.error, [])}
          onSubmit={() => resetting.mutate({ token, password: password.text })}
        >
          <NewPasswordFields value={password} minLength={minLength} onChange={setPassword} />
        </Form>
      )}
      <Link to="/sign-in" className="text-accent hover:underline">
        Back to sign-in
      </Link>
    </SignInFrame>
  );
}
