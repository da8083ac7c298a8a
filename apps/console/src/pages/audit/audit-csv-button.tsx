import type { AuditFilter } from "@gantry/sdk";
import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { toast } from "../../ui/toast.ts";

const name = "audit.csv";

/** Downloads every record that the filters show. */
export function AuditCsvButton({ filter }: { filter: AuditFilter }) {
  const saving = useMutation({
    mutationFn: async () => (await api.admin.audit.csv(filter)).blob(),
    onSuccess(table) {
      saveFile(table, name);
      toast(`${name} saved`);
    },
  });
  return (
    <Button icon={<Download size={14} />} busy={saving.isPending} onClick={() => saving.mutate()}>
      Download CSV
    </Button>
  );
}
