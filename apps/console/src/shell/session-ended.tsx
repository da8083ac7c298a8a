import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { peekSession, signIn } from "../api/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/notice.tsx";
import { changeConsoleStatus, useConsoleStatus } from "./console-status.ts";
import { useSession } from "./session.ts";
import { enter } from "./session-watch.ts";
import { SignInForms } from "./sign-in-forms.tsx";

/** A dialog over the open page, so that unsaved input is kept. */
export function SessionEnded() {
  const { session } = useConsoleStatus();
  const { username: owner, person } = useSession();
  const username = person ?? owner;
  const queries = useQueryClient();
  const entering = useMutation({
    meta: { showsFailure: true },
    mutationFn: signIn,
    onSuccess: (entered) => enter(queries, entered),
  });
  useEffect(() => {
    if (session !== "ended") return;
    // The person may have signed in at the provider, in another tab.
    const look = () =>
      void peekSession().then(
        (entered) => enter(queries, entered),
        () => {},
      );
    addEventListener("focus", look);
    return () => removeEventListener("focus", look);
  }, [session, queries]);
  return (
    <Dialog
      open={session === "ended"}
      closesAtOnce
      onClose={() => changeConsoleStatus({ session: "dismissed" })}
      title="Your session has ended"
      description={
        <>
          Sign in again as {username} to continue on this page. You can also open a link from{" "}
          <code>npx gantry sign-in</code> in another tab.
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {entering.isError && <Failure error={entering.error} />}
        <SignInForms busy={entering.isPending} onCredential={entering.mutate} username={username} from="/" opensTab />
      </div>
    </Dialog>
  );
}
