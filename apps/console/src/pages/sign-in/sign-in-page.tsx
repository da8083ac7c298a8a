import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Navigate, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { isSignedOut } from "../../api/client.ts";
import { signIn } from "../../api/session.ts";
import { sessionQuery } from "../../shell/session.ts";
import { enter } from "../../shell/session-watch.ts";
import { SignInForms } from "../../shell/sign-in-forms.tsx";
import { useHasWay } from "../../shell/sign-in-ways.ts";
import { showTitle } from "../../ui/document-title.ts";
import { isConnectionError } from "../../ui/error-text.rules.ts";
import { Failure, Loading, Notice } from "../../ui/notice.tsx";
import { SignInFrame } from "./sign-in-frame.tsx";
import { problemTexts } from "./sign-in-problem.ts";
import { SwitchAccount } from "./switch-account.tsx";
import { useLinkToken } from "./use-link-token.ts";

export function SignInPage() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { from = "/", problem } = useSearch({ from: "/sign-in" });
  const [token, dropToken] = useLinkToken();
  const hasLinks = useHasWay("link");
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
    showTitle("Sign in");
  }, []);
  useEffect(() => {
    if (token === undefined) return;
    reset();
    if (isAnonymous) mutate({ token });
  }, [token, isAnonymous, mutate, reset]);

  if (current && token === undefined && entering.isIdle) return <Navigate to={from} replace />;
  return (
    <SignInFrame title="Sign in to Gantry">
      {problem && entering.isIdle && <Notice tone="bad" title={problemTexts[problem]} />}
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
          <SignInForms busy={entering.isPending} onCredential={mutate} from={from} />
          {hasLinks && (
            <p className="border-line border-t pt-4 text-muted text-xs">
              Can't sign in? Ask an admin for a one-time sign-in link. On the server, run{" "}
              <code>npx gantry sign-in</code> in Gantry's folder to print a link.
            </p>
          )}
        </>
      )}
    </SignInFrame>
  );
}
