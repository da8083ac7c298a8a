import { useMutation, useQueryClient } from "@tanstack/react-query";
import { signIn } from "../api/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/notice.tsx";
import { KeyForm } from "./key-form.tsx";
import { useSession } from "./session.ts";
import { enter } from "./session-watch.ts";
import { setTrouble, useTrouble } from "./trouble.ts";

/** Asks to sign in again over whatever page is open, so that nothing on it is lost. */
export function SessionEnded() {
  const { session } = useTrouble();
  const { username } = useSession();
  const queries = useQueryClient();
  const entering = useMutation({
    meta: { showsFailure: true },
    mutationFn: signIn,
    onSuccess: (entered) => enter(queries, entered),
  });
  return (
    <Dialog
      open={session === "ended"}
      onClose={() => setTrouble({ session: "put off" })}
      title="Your session has ended"
      description={
        <>
          Sign in again as {username}, and this page goes on as it is. A link from <code>npx gantry sign-in</code>,
          opened in another tab, does the same.
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {entering.isError && <Failure error={entering.error} />}
        <KeyForm busy={entering.isPending} onKey={(key) => entering.mutate({ key })} />
      </div>
    </Dialog>
  );
}
