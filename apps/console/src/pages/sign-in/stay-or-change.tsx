import { Button } from "../../ui/button.tsx";

interface StayOrChangeProps {
  username: string;
  busy: boolean;
  onStay(): void;
  onChange(): void;
}

/** Anybody can send a link that signs in to his own account: nobody is taken there unawares. */
export function StayOrChange({ username, busy, onStay, onChange }: StayOrChangeProps) {
  return (
    <div className="flex flex-col gap-4">
      <div>
        <p className="font-medium">You are signed in as {username}. Sign in by this link as another?</p>
        <p className="mt-1 text-muted">
          It leads into the account for which it was made. Whoever made it can see what you enter there.
        </p>
      </div>
      <div className="flex flex-wrap justify-end gap-2">
        <Button busy={busy} onClick={onChange}>
          Continue
        </Button>
        <Button kind="primary" disabled={busy} onClick={onStay}>
          Stay as {username}
        </Button>
      </div>
    </div>
  );
}
