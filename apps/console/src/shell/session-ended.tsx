import { useMutation, useQueryClient } from "@tanstack/react-query";
import { signIn } from "../api/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/notice.tsx";
import { changeConsoleStatus, useConsoleStatus } from "./console-status.ts";
import { KeyForm } from "./key-form.tsx";
import { useSession } from "./session.ts";
import { enter } from "./session-watch.ts";

/** A dialog over the open page, so that unsaved input is kept. */
export function SessionEnded() {
  const { session } = useConsoleStatus();
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
        <KeyForm busy={entering.isPending} onKey={(key) => entering.mutate({ key })} />
      </div>
    </Dialog>
  );
}
