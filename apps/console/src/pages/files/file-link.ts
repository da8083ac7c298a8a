import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { someModelQuery } from "./some-model.ts";

/** Lifetime of a link. */
const linkMs = 86_400_000;

export const fileLinkQuery = (queries: QueryClient, s3Path: string) =>
  queryOptions({
    queryKey: ["file-link", s3Path],
    async queryFn({ signal }) {
      const model = await queries.ensureQueryData(someModelQuery);
      if (model === null)
        throw new Error("Download links need a model that you can call. You have access to none yet.");
      const { url } = await api.files.link(model, s3Path, { signal });
      return { url, until: new Date(Date.now() + linkMs).toISOString() };
    },
    // A copied link should stay valid for most of a day.
    staleTime: linkMs / 24,
    throwOnError: false,
  });
