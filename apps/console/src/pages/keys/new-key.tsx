import type { CreateKeyBody, KeyRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog, SecretDialog } from "../../ui/dialog.tsx";
import { toast } from "../../ui/toast.ts";
import { KeyForm } from "./key-form.tsx";

interface NewKeyProps {
  label: string;
  /** Whose it will be, where that is not the one who makes it. */
  owner?: string;
  kind?: "primary" | "plain";
  create(key: CreateKeyBody): Promise<KeyRecord>;
}

/** The button, the form behind it, and the key that comes of it. */
export function NewKey({ label, owner, kind = "primary", create }: NewKeyProps) {
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  const creating = useMutation({
    meta: { showsFailure: true },
    // The whole key is in the answer: nothing of it stays once it was shown.
    gcTime: 0,
    mutationFn: create,
    async onSuccess({ name }) {
      setOpen(false);
      toast(name ? `The key “${name}” is made` : "The key is made");
      await queries.invalidateQueries({ queryKey: ["keys"] });
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
        description={owner ? `Whoever has it acts as ${owner}.` : "Whoever has it acts as you, as far as it reaches."}
      >
        <KeyForm creating={creating} onCancel={close} />
      </Dialog>
      <SecretDialog
        secret={creating.data?.key}
        title={owner ? `The new key of ${owner}` : "Your new API key"}
        onClose={creating.reset}
      />
    </>
  );
}
