import { Button } from "../../ui/button.tsx";

interface SwitchAccountProps {
  username: string;
  busy: boolean;
  onStay(): void;
  onChange(): void;
}

/** An attacker can send a link to their own account, so switching needs a confirmation. */
export function SwitchAccount({ username, busy, onStay, onChange }: SwitchAccountProps) {
  return (
    <div className="flex flex-col gap-4">
      <div>
        <p className="font-medium">You're signed in as {username}. Use this link to switch account?</p>
        <p className="mt-1 text-muted">The owner of the other account can see everything you enter there.</p>
      </div>
      <div className="flex flex-wrap justify-end gap-2">
        <Button busy={busy} onClick={onChange}>
          Switch account
        </Button>
        <Button kind="primary" disabled={busy} onClick={onStay}>
          Stay signed in as {username}
        </Button>
      </div>
    </div>
  );
}
