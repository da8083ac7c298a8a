import { useMutation, useQueryClient } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog, SecretDialog } from "../../ui/dialog.tsx";
import { errorText } from "../../ui/error-text.rules.ts";
import { toast } from "../../ui/toast.ts";
import { UserForm, type WantedUser } from "./user-form.tsx";

/** Creates a first key too, because a user cannot sign in without one. */
async function createWithKey(wanted: WantedUser) {
  const { username } = wanted;
  const user = await api.admin.users.create(wanted);
  try {
    const { key } = await api.admin.users.createKey(username, { name: "first" });
    return { username: user.username, key };
  } catch (error) {
    // The user exists, and an admin can create a key on the user's page.
    toast(`User created, but without a key: ${errorText(error)}`, "warn");
    return { username: user.username, key: undefined };
  }
}

export function NewUser() {
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  const creating = useMutation({
    meta: { showsFailure: true },
    // The result contains the key, which must not stay in the cache.
    gcTime: 0,
    mutationFn: createWithKey,
    async onSuccess({ username }) {
      setOpen(false);
      toast(`User ${username} created`);
      await queries.invalidateQueries({ queryKey: ["admin"] });
    },
  });
  const close = () => {
    setOpen(false);
    creating.reset();
  };
  return (
    <>
      <Button kind="primary" icon={<UserPlus size={14} />} onClick={() => setOpen(true)}>
        New user
      </Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title="New user"
        description="After you create the user, their first API key is shown once."
      >
        <UserForm creating={creating} onCancel={close} />
      </Dialog>
      <SecretDialog
        secret={creating.data?.key}
        title={`First API key of ${creating.data?.username}`}
        onClose={creating.reset}
      />
    </>
  );
}
