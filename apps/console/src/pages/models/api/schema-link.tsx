import { useMutation } from "@tanstack/react-query";
import { fetchAsConsole } from "../../../api/fetch-as-console.ts";
import { textLinkClass } from "../../../ui/link.tsx";
import { saveFile } from "../../../ui/save-file.ts";

/** A plain link would be refused: the cookie of the session does not count without the header of the console. */
export function SchemaLink({ model }: { model: string }) {
  const address = `/api/v1/${model}/openapi.json`;
  const saving = useMutation({
    async mutationFn() {
      const response = await fetchAsConsole(address);
      if (!response.ok) throw new Error(`The server responded with status ${response.status}`);
      saveFile(await response.blob(), `${model.replace("/", "-")}-openapi.json`);
    },
  });
  return (
    <button type="button" className={textLinkClass} disabled={saving.isPending} onClick={() => saving.mutate()}>
      openapi.json
    </button>
  );
}
