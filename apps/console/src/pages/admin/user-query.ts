import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

/** Null if the user does not exist. The API has no call for a single user, so this searches the list. */
export const userQuery = (username: string) =>
  queryOptions({
    queryKey: ["admin", "user", username],
    async queryFn({ signal }) {
      for await (const user of api.admin.users.each({ signal })) if (user.username === username) return user;
      return null;
    },
  });
