import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

/** One user; null if there is none of that name. The service has a list alone, so it is looked through. */
export const userQuery = (username: string) =>
  queryOptions({
    queryKey: ["admin", "user", username],
    async queryFn({ signal }) {
      for await (const user of api.admin.users.each({ signal })) if (user.username === username) return user;
      return null;
    },
  });
