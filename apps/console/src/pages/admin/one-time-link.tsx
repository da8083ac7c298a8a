import { useMutation } from "@tanstack/react-query";
import { Button } from "../../ui/button.tsx";
import { SecretDialog } from "../../ui/dialog.tsx";

interface OneTimeLinkProps {
  name: string;
  meaning: string;
  /** Label of the button. */
  label: string;
  username: string;
  create(): Promise<{ url: string }>;
}

export function OneTimeLink({ name, meaning, label, username, create }: OneTimeLinkProps) {
  const creating = useMutation({
    // Anyone with the link can use it, so it must not stay in the cache.
    gcTime: 0,
    mutationFn: create,
  });
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <div className="min-w-0 flex-1 basis-60">
        <h3 className="font-medium">{name}</h3>
        <p className="text-muted">{meaning}</p>
      </div>
      <Button busy={creating.isPending} onClick={() => creating.mutate()}>
        {label}
      </Button>
      <SecretDialog secret={creating.data?.url} title={`${name} for ${username}`} onClose={creating.reset} />
    </div>
  );
}
