import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { someModelQuery } from "./some-model.ts";

/** So long a link is good. */
const linkMs = 86_400_000;

/** A link to download a file, and until when it is good. */
export const fileLinkQuery = (queries: QueryClient, s3Path: string) =>
  queryOptions({
    queryKey: ["file-link", s3Path],
    async queryFn({ signal }) {
      const model = await queries.ensureQueryData(someModelQuery);
      if (model === null) throw new Error("Links are made at a model, and there is none that you may call");
      const { url } = await api.files.link(model, s3Path, { signal });
      return { url, until: new Date(Date.now() + linkMs).toISOString() };
    },
    // A link that somebody copies should be good for most of the day.
    staleTime: linkMs / 24,
    throwOnError: false,
  });
