import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { signIn } from "../../api/client.ts";
import { sessionQuery } from "../../shell/session.ts";
import { Button } from "../../ui/button.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { Failure, Notice } from "../../ui/notice.tsx";

export function SignInPage() {
  const [key, setKey] = useState("");
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { from } = useSearch({ from: "/sign-in" });
  const entering = useMutation({
    meta: { showsFailure: true },
    mutationFn: signIn,
    async onSuccess(session) {
      queries.clear();
      queries.setQueryData(sessionQuery.queryKey, session);
      await navigate({ to: from ?? "/", replace: true });
    },
  });
  const { mutate } = entering;
  const isTaken = useRef(false);
  useEffect(() => {
    document.title = "Sign in · Gantry";
    const token = location.hash.slice(1);
    if (!token || isTaken.current) return;
    isTaken.current = true;
    // It works once: what is left of it in the address bar and the history is of no use to anybody.
    history.replaceState(history.state, "", location.pathname + location.search);
    mutate({ token });
  }, [mutate]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    entering.mutate({ key: key.trim() });
  };
  return (
    <main className="flex min-h-screen items-center justify-center p-4">
      <div className="flex w-full max-w-sm flex-col gap-5 rounded-lg border border-line bg-panel p-6">
        <header className="flex items-center gap-3">
          <img src={`${import.meta.env.BASE_URL}mark.svg`} alt="" className="size-9" />
          <div>
            <h1 className="font-semibold text-lg">Sign in to Gantry</h1>
            <p className="text-muted">Models and agents, self-hosted.</p>
          </div>
        </header>
        {entering.isError && <Failure error={entering.error} />}
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
          <Button kind="primary" type="submit" busy={entering.isPending} disabled={key.trim() === ""}>
            Sign in
          </Button>
        </form>
        <Notice title="No key at hand?">
          Ask whoever runs this installation for one, or for a link that signs you in once. Where a key is set up,{" "}
          <code>npx gantry sign-in</code> prints such a link.
        </Notice>
      </div>
    </main>
  );
}
