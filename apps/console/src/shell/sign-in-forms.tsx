import { useQuery } from "@tanstack/react-query";
import type { Credential } from "../api/session.ts";
import { Failure, Loading } from "../ui/notice.tsx";
import { KeyForm } from "./key-form.tsx";
import { PasswordForm } from "./password-form.tsx";
import { signInWaysQuery } from "./sign-in-ways.ts";

interface SignInFormsProps {
  busy: boolean;
  onCredential(credential: Credential): void;
  /** The only user that may sign in. */
  username?: string;
  /** The page to return to from the OpenID provider. */
  from: string;
  /** Keeps this page open while the person signs in at the provider. */
  opensTab?: boolean;
}

/** The ways to sign in that the server has enabled. */
export function SignInForms({ busy, onCredential, username, from, opensTab = false }: SignInFormsProps) {
  const known = useQuery(signInWaysQuery);
  if (known.isError) return <Failure error={known.error} onRetry={() => void known.refetch()} />;
  if (!known.data) return <Loading />;
  const { ways, provider } = known.data;
  const hasPassword = ways.includes("password");
  return (
    <>
      {ways.includes("oidc") && (
        <a
          href={`/console/api/oidc/start?${new URLSearchParams({ from })}`}
          {...(opensTab && { target: "_blank", rel: "noopener" })}
          className="rounded-md border border-line bg-sunken px-3 py-1.5 text-center font-medium hover:border-accent"
        >
          Sign in with {provider}
        </a>
      )}
      {hasPassword && <PasswordForm busy={busy} username={username} onPassword={onCredential} />}
      {ways.includes("key") && <KeyForm busy={busy} isSecond={hasPassword} onKey={(key) => onCredential({ key })} />}
    </>
  );
}
