import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Checkbox } from "../ui/field.tsx";
import { bytes as sizeOf } from "../ui/format.ts";
import { Failure } from "../ui/notice.tsx";
import { saveFile } from "../ui/save-file.ts";
import { toast } from "../ui/toast.ts";

interface ExportDataProps {
  username: string;
  start(options: { files: boolean; signal: AbortSignal }): Promise<Response>;
}

/** Downloads everything that an account has. Closing the dialog cancels the download. */
export function ExportData({ username, start }: ExportDataProps) {
  const [isOpen, setOpen] = useState(false);
  const [files, setFiles] = useState(true);
  const [received, setReceived] = useState(0);
  const running = useRef<AbortController>(undefined);
  const exporting = useMutation({
    meta: { showsFailure: true },
    mutationFn: async () => {
      const stop = new AbortController();
      running.current = stop;
      setReceived(0);
      return counted(await start({ files, signal: stop.signal }), setReceived).blob();
    },
    onSuccess(archive) {
      const name = `gantry-${username}-${new Date().toISOString().slice(0, 10)}.tar.gz`;
      saveFile(archive, name);
      toast(`${name} saved`);
      setOpen(false);
    },
  });
  const close = () => {
    running.current?.abort();
    exporting.reset();
    setOpen(false);
  };
  useEffect(() => () => running.current?.abort(), []);
  return (
    <>
      <Button icon={<Download size={14} />} onClick={() => setOpen(true)}>
        Export data
      </Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title={`Export data of ${username}`}
        description="Downloads one archive (.tar.gz) with predictions, runs, agents, files, usage and everything else of this account. It contains no keys and no stored secrets."
      >
        <Checkbox
          label="Include the contents of files and drives"
          checked={files}
          disabled={exporting.isPending}
          onChange={(event) => setFiles(event.target.checked)}
        />
        {exporting.isError && (
          <div className="mt-4">
            <Failure error={exporting.error} />
          </div>
        )}
        <div className="mt-4 flex items-center justify-end gap-2">
          <span className="mr-auto text-muted" aria-live="polite">
            {exporting.isPending && `${sizeOf(received)} received`}
          </span>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" busy={exporting.isPending} onClick={() => exporting.mutate()}>
            Download
          </Button>
        </div>
      </Dialog>
    </>
  );
}

/** The same response, which reports the bytes that have arrived. */
function counted({ body, headers }: Response, report: (bytes: number) => void): Response {
  let bytes = 0;
  const counting = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      report(bytes);
      controller.enqueue(chunk);
    },
  });
  return new Response(body?.pipeThrough(counting), { headers });
}
