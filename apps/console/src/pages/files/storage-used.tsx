import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { bytes } from "../../ui/format.ts";

/** `resource`: refetched together with this list. */
export function StorageUsed({ resource }: { resource: "files" | "drives" }) {
  const { data } = useQuery({ queryKey: [resource, "storage"], queryFn: ({ signal }) => api.me({ signal }) });
  if (!data) return null;
  const { used_bytes, allowed_bytes } = data.storage;
  const allowed = allowed_bytes === null ? "" : ` of ${bytes(allowed_bytes)}`;
  return (
    <p className="text-muted text-sm">{`Storage used: ${bytes(used_bytes)}${allowed} (uploads, drives, stored responses and files of batches).`}</p>
  );
}
