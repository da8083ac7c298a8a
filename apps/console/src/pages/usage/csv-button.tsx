import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { toast } from "../../ui/toast.ts";
import { csvName, type DayRange, momentsOf } from "./day-range.rules.ts";

/** All rows of the range, not of the page. */
export function CsvButton({ range }: { range: DayRange }) {
  const saving = useMutation({
    async mutationFn() {
      const { first: from_date, last: to_date } = momentsOf(range);
      return (await api.account.usageCsv({ from_date, to_date })).blob();
    },
    onSuccess(table) {
      save(table, csvName(range));
      toast(`${csvName(range)} is saved`);
    },
  });
  return (
    <Button icon={<Download size={14} />} busy={saving.isPending} onClick={() => saving.mutate()}>
      Download CSV
    </Button>
  );
}

function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
