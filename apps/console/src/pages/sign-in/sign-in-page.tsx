import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Navigate, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { isSignedOut } from "../../api/client.ts";
import { signIn } from "../../api/session.ts";
import { KeyForm } from "../../shell/key-form.tsx";
import { sessionQuery } from "../../shell/session.ts";
import { enter } from "../../shell/session-watch.ts";
import { isOfConnection } from "../../ui/failure-words.rules.ts";
import { Failure, Loading, Notice } from "../../ui/notice.tsx";
import { StayOrChange } from "./stay-or-change.tsx";
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
      // It was refused, and would be again; without an answer it is not spent.
      if (!isOfConnection(error)) dropToken();
    },
  });
  const { mutate, reset } = entering;
  const isNobody = isSignedOut(session.error);
  const who = isNobody ? undefined : session.data;
  useEffect(() => {
    document.title = "Sign in · Gantry";
  }, []);
  useEffect(() => {
    if (token === undefined) return;
    reset();
    if (isNobody) mutate({ token });
  }, [token, isNobody, mutate, reset]);

  if (who && token === undefined && entering.isIdle) return <Navigate to={from} replace />;
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
        {session.isError && !isNobody && <Failure error={session.error} onRetry={() => void session.refetch()} />}
        {who && entering.isError && token === undefined && (
          <Link to={from} replace className="text-accent hover:underline">
            Go on as {who.username}
          </Link>
        )}
        {who && token !== undefined && (
          <StayOrChange
            username={who.username}
            busy={entering.isPending}
            onStay={dropToken}
            onChange={() => mutate({ token })}
          />
        )}
        {isNobody && (
          <>
            <KeyForm busy={entering.isPending} onKey={(key) => mutate({ key })} />
            <Notice title="No key at hand?">
              Ask whoever runs this installation for a key, or for a link that signs you in once. On the machine itself{" "}
              <code>npx gantry sign-in</code> prints one.
            </Notice>
          </>
        )}
      </div>
    </main>
  );
}
