import type { UserRecord } from "@gantry/sdk";
import type { ReactNode } from "react";
import { useSession } from "../../shell/session.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { Panel } from "../../ui/page.tsx";
import { useChangeUser } from "./use-change-user.ts";
import { UserPassword } from "./user-password.tsx";
import { UserPlan } from "./user-plan.tsx";

/** What a user is and may. */
export function UserAccount({ user }: { user: UserRecord }) {
  return (
    <Panel title="Account">
      <div className="flex flex-col gap-4 divide-y divide-line *:not-last:pb-4">
        <UserPlan key={user.plan} user={user} />
        <Role user={user} />
        <UserPassword username={user.username} />
        <Access user={user} />
      </div>
    </Panel>
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
  return useSession().username === username ? " This is you: another admin would have to undo it." : "";
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
          label={isAdmin ? "Make a user" : "Make an admin"}
          question={isAdmin ? `Take the role of an admin from ${username}?` : `Make ${username} an admin?`}
          explanation={
            isAdmin
              ? `It sees and changes nothing of others from then on.${ofSelf}`
              : "An admin sees and changes everything: users, money, plans and everyone's models."
          }
          keep="Leave it"
          onConfirm={() =>
            changing.mutateAsync({
              change: { role: isAdmin ? "user" : "admin" },
              done: isAdmin ? `${username} is a user` : `${username} is an admin`,
            })
          }
        />
      }
    >
      {isAdmin ? "Admin: may do everything." : "User: has what is its own."}
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
            onClick={() => changing.mutate({ change: { disabled: false }, done: `${username} is enabled` })}
          >
            Enable
          </Button>
        ) : (
          <ConfirmButton
            label="Disable"
            question={`Disable ${username}?`}
            explanation={`Its keys stop at once, and its models and agents are found by nobody until it is enabled again.${ofSelf}`}
            keep="Leave it"
            onConfirm={() => changing.mutateAsync({ change: { disabled: true }, done: `${username} is disabled` })}
          />
        )
      }
    >
      {disabled ? "Disabled: no key of it works." : "Enabled."}
    </Row>
  );
}
