import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { bytes } from "../../ui/format.ts";

/** What uploads and drives take up together. Read again with the list that it stands beside. */
export function StorageUsed({ beside }: { beside: "files" | "drives" }) {
  const { data } = useQuery({ queryKey: [beside, "storage"], queryFn: ({ signal }) => api.me({ signal }) });
  if (!data) return null;
  const { used_bytes, allowed_bytes } = data.storage;
  const allowed = allowed_bytes === null ? "" : ` of ${bytes(allowed_bytes)}`;
  return <p className="text-muted text-sm">{`Storage used: ${bytes(used_bytes)}${allowed} (uploads and drives).`}</p>;
}
