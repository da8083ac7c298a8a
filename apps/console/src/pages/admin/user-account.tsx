import type { UserRecord } from "@gantry/sdk";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api } from "../../api/client.ts";
import { ExportData } from "../../shell/export-data.tsx";
import { useSession } from "../../shell/session.ts";
import { useHasWay } from "../../shell/sign-in-ways.ts";
import { Button } from "../../ui/button.tsx";
import { DeleteAccountButton } from "../../ui/delete-account-button.tsx";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { Panel } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";
import { OneTimeLink } from "./one-time-link.tsx";
import { useChangeUser } from "./use-change-user.ts";
import { UserPlan } from "./user-plan.tsx";

export function UserAccount({ user }: { user: UserRecord }) {
  return (
    <Panel title="Account">
      <div className="flex flex-col gap-4 divide-y divide-line *:not-last:pb-4">
        <UserPlan key={user.plan} user={user} />
        {user.kind === "person" && (
          <>
            <Role user={user} />
            <SignInLinks username={user.username} />
          </>
        )}
        <Access user={user} />
        <Data username={user.username} />
        <Deletion username={user.username} />
      </div>
    </Panel>
  );
}

function Deletion({ username }: { username: string }) {
  const queries = useQueryClient();
  const remove = async () => {
    await api.admin.users.delete(username);
    toast(`${username} is being deleted`);
    await queries.invalidateQueries({ queryKey: ["admin"] });
  };
  return (
    <Row
      name="Deletion"
      action={<DeleteAccountButton username={username} question={`Delete ${username}?`} onDelete={remove} />}
    >
      Deletes everything that the account stored. The ledger stays.
    </Row>
  );
}

function SignInLinks({ username }: { username: string }) {
  const { makeSignInLink, makePasswordReset } = api.admin.users;
  const [hasLinks, hasPasswords] = [useHasWay("link"), useHasWay("password")];
  return (
    <>
      {hasLinks && (
        <OneTimeLink
          name="Sign-in link"
          meaning={`Signs ${username} in to the console, once, within 15 minutes.`}
          label="Create link"
          username={username}
          create={() => makeSignInLink(username)}
        />
      )}
      {hasPasswords && (
        <OneTimeLink
          name="Password reset link"
          meaning={`Lets ${username} set a new password, once, within 24 hours. Ends all sessions of ${username}.`}
          label="Create reset link"
          username={username}
          create={() => makePasswordReset(username)}
        />
      )}
    </>
  );
}

function Row({ name, children, action }: { name: string; children: ReactNode; action: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <div className="min-w-0">
        <h3 className="font-medium">{name}</h3>
        <p className="text-muted">{children}</p>
      </div>
      {action}
    </div>
  );
}

function useWarningOfSelf(username: string): string {
  return useSession().username === username ? " This is your own account: only another admin can undo this." : "";
}

function Role({ user: { username, role } }: { user: UserRecord }) {
  const changing = useChangeUser(username);
  const ofSelf = useWarningOfSelf(username);
  const isAdmin = role === "admin";
  return (
    <Row
      name="Role"
      action={
        <ConfirmButton
          label={isAdmin ? "Remove admin role" : "Make admin"}
          question={isAdmin ? `Remove the admin role from ${username}?` : `Make ${username} an admin?`}
          explanation={
            isAdmin
              ? `${username} can no longer see or change resources of other users.${ofSelf}`
              : "Admins can see and change everything: users, money, plans and all models."
          }
          onConfirm={() =>
            changing.mutateAsync({
              change: { role: isAdmin ? "user" : "admin" },
              done: isAdmin ? `${username} is no longer an admin` : `${username} is now an admin`,
            })
          }
        />
      }
    >
      {isAdmin ? "Admin: full access to this installation." : "User: can manage their own resources."}
    </Row>
  );
}

function Access({ user: { username, disabled } }: { user: UserRecord }) {
  const changing = useChangeUser(username);
  const ofSelf = useWarningOfSelf(username);
  return (
    <Row
      name="Access"
      action={
        disabled ? (
          <Button
            busy={changing.isPending}
            onClick={() => changing.mutate({ change: { disabled: false }, done: `${username} enabled` })}
          >
            Enable
          </Button>
        ) : (
          <ConfirmButton
            label="Disable"
            question={`Disable ${username}?`}
            explanation={`Their keys stop working immediately, and their models and agents are hidden until you enable the account again.${ofSelf}`}
            onConfirm={() => changing.mutateAsync({ change: { disabled: true }, done: `${username} disabled` })}
          />
        )
      }
    >
      {disabled ? "Disabled: all keys are blocked." : "Enabled."}
    </Row>
  );
}

function Data({ username }: { username: string }) {
  return (
    <Row
      name="Data"
      action={<ExportData username={username} start={(options) => api.admin.users.export(username, options)} />}
    >
      Everything of {username} in one archive.
    </Row>
  );
}
