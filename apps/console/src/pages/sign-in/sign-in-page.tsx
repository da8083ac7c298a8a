import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Navigate, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { isSignedOut } from "../../api/client.ts";
import { signIn } from "../../api/session.ts";
import { KeyForm } from "../../shell/key-form.tsx";
import { sessionQuery } from "../../shell/session.ts";
import { enter } from "../../shell/session-watch.ts";
import { isConnectionError } from "../../ui/error-text.rules.ts";
import { Failure, Loading, Notice } from "../../ui/notice.tsx";
import { SwitchAccount } from "./switch-account.tsx";
import { useLinkToken } from "./use-link-token.ts";

export function SignInPage() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { from = "/" } = useSearch({ from: "/sign-in" });
  const [token, dropToken] = useLinkToken();
  const session = useQuery(sessionQuery);
  const entering = useMutation({
    meta: { showsFailure: true },
    mutationFn: signIn,
    async onSuccess(entered) {
      await enter(queries, entered, true);
      await navigate({ to: from, replace: true });
    },
    onError(error) {
      // A refused token stays invalid. Without an answer it may still be unused.
      if (!isConnectionError(error)) dropToken();
    },
  });
  const { mutate, reset } = entering;
  const isAnonymous = isSignedOut(session.error);
  const current = isAnonymous ? undefined : session.data;
  useEffect(() => {
    document.title = "Sign in · Gantry";
  }, []);
  useEffect(() => {
    if (token === undefined) return;
    reset();
    if (isAnonymous) mutate({ token });
  }, [token, isAnonymous, mutate, reset]);

  if (current && token === undefined && entering.isIdle) return <Navigate to={from} replace />;
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
        {entering.isError && (
          <Failure error={entering.error} {...(token !== undefined && { onRetry: () => mutate({ token }) })} />
        )}
        {session.isPending && <Loading />}
        {session.isError && !isAnonymous && <Failure error={session.error} onRetry={() => void session.refetch()} />}
        {current && entering.isError && token === undefined && (
          <Link to={from} replace className="text-accent hover:underline">
            Continue as {current.username}
          </Link>
        )}
        {current && token !== undefined && (
          <SwitchAccount
            username={current.username}
            busy={entering.isPending}
            onStay={dropToken}
            onChange={() => mutate({ token })}
          />
        )}
        {isAnonymous && (
          <>
            <KeyForm busy={entering.isPending} onKey={(key) => mutate({ key })} />
            <Notice title="No API key?">
              Ask an admin for a key or a one-time sign-in link. On the server, run <code>npx gantry sign-in</code> in
              Gantry's folder to print a link.
            </Notice>
          </>
        )}
      </div>
    </main>
  );
}
