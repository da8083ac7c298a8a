import type { CreateKeyBody, KeyRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog, SecretDialog } from "../../ui/dialog.tsx";
import { toast } from "../../ui/toast.ts";
import { KeyForm } from "./key-form.tsx";

interface NewKeyProps {
  label: string;
  /** Undefined: the signed-in user. */
  owner?: string;
  kind?: "primary" | "plain";
  /** The address asks for the dialog; `onAsked` takes the request out of it. */
  isAsked?: boolean;
  onAsked?(): void;
  create(key: CreateKeyBody): Promise<KeyRecord>;
}

export function NewKey({ label, owner, kind = "primary", isAsked = false, onAsked, create }: NewKeyProps) {
  const [isOpen, setOpen] = useState(false);
  const asked = useRef(onAsked);
  asked.current = onAsked;
  useEffect(() => {
    if (!isAsked) return;
    setOpen(true);
    asked.current?.();
  }, [isAsked]);
  const queries = useQueryClient();
  const creating = useMutation({
    meta: { showsFailure: true },
    // The result contains the key, which must not stay in the cache.
    gcTime: 0,
    mutationFn: create,
    async onSuccess() {
      setOpen(false);
      toast("Key created");
      await Promise.all([["keys"], ["admin", "keys"]].map((queryKey) => queries.invalidateQueries({ queryKey })));
    },
  });
  const close = () => {
    setOpen(false);
    creating.reset();
  };
  return (
    <>
      <Button kind={kind} icon={<KeyRound size={14} />} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title={owner ? `New key for ${owner}` : "New API key"}
        description={`Anyone with this key can act as ${owner ?? "you"}, within the access you choose.`}
      >
        <KeyForm creating={creating} onCancel={close} />
      </Dialog>
      <SecretDialog
        secret={creating.data?.key}
        title={owner ? `New API key of ${owner}` : "Your new API key"}
        onClose={creating.reset}
      />
    </>
  );
}
