import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { type DayRange, momentsOf } from "../../ui/day-range.rules.ts";
import { saveFile } from "../../ui/save-file.ts";
import { toast } from "../../ui/toast.ts";
import { csvName } from "./csv-name.rules.ts";

/** Downloads all pages of the range. */
export function CsvButton({ range }: { range: DayRange }) {
  const saving = useMutation({
    async mutationFn() {
      const { first: from_date, last: to_date } = momentsOf(range);
      return (await api.account.usageCsv({ from_date, to_date })).blob();
    },
    onSuccess(table) {
      saveFile(table, csvName(range));
      toast(`${csvName(range)} saved`);
    },
  });
  return (
    <Button icon={<Download size={14} />} busy={saving.isPending} onClick={() => saving.mutate()}>
      Download CSV
    </Button>
  );
}
