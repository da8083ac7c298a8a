import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { toast } from "../../ui/toast.ts";
import { type CsvRange, csvName } from "./csv-name.rules.ts";

/** Downloads every prediction of the range, also those that the filters hide. */
export function CsvButton({ range }: { range: CsvRange | undefined }) {
  const saving = useMutation({
    mutationFn: async (wanted: CsvRange) => (await api.account.usageCsv(wanted)).blob(),
    onSuccess(table, wanted) {
      saveFile(table, csvName(wanted));
      toast(`${csvName(wanted)} saved`);
    },
  });
  return (
    <Button
      icon={<Download size={14} />}
      busy={saving.isPending}
      disabled={!range}
      title="Every prediction in this range"
      onClick={() => range && saving.mutate(range)}
    >
      Download CSV
    </Button>
  );
}
