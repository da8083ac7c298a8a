import type { CreateUserBody } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog, SecretDialog } from "../../ui/dialog.tsx";
import { wordsOf } from "../../ui/failure-words.rules.ts";
import { toast } from "../../ui/toast.ts";
import { UserForm, type WantedUser } from "./user-form.tsx";

/** A user and its first key: without one it could do nothing. */
async function createWithKey({ username, plan, role, password }: WantedUser) {
  const body: CreateUserBody = { username, plan, role, ...(password && { password }) };
  const user = await api.admin.users.create(body);
  try {
    const { key } = await api.admin.users.createKey(username, { name: "first" });
    return { username: user.username, key };
  } catch (error) {
    // The user is there all the same, and can be given a key on its page.
    toast(`${username} has no key yet: ${wordsOf(error)}`, "warn");
    return { username: user.username, key: undefined };
  }
}

export function NewUser() {
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  const creating = useMutation({
    meta: { showsFailure: true },
    // The whole key is in the answer: nothing of it stays once it was shown.
    gcTime: 0,
    mutationFn: createWithKey,
    async onSuccess({ username }) {
      setOpen(false);
      toast(`The user ${username} is made`);
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
        description="You are shown its first API key once it is made."
      >
        <UserForm creating={creating} onCancel={close} />
      </Dialog>
      <SecretDialog
        secret={creating.data?.key}
        title={`The first key of ${creating.data?.username}`}
        onClose={creating.reset}
      />
    </>
  );
}
