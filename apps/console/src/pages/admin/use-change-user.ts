import type { ChangeUserBody } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { toast } from "../../ui/toast.ts";
import { userQuery } from "./user-query.ts";

interface Change {
  change: ChangeUserBody;
  /** Text of the toast. */
  done: string;
}

export function useChangeUser(username: string, { showsFailure = false } = {}) {
  const queries = useQueryClient();
  return useMutation({
    meta: { showsFailure },
    mutationFn: ({ change }: Change) => api.admin.users.update(username, change),
    async onSuccess(user, { done }) {
      queries.setQueryData(userQuery(username).queryKey, user);
      toast(done);
      await queries.invalidateQueries({ queryKey: ["admin"] });
    },
  });
}
