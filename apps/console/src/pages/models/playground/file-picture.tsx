import { useEffect, useState } from "react";

/** What is in a picture that was chosen, before it is sent. */
export function FilePicture({ file }: { file: File }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return <img src={url} alt="" className="size-8 shrink-0 rounded object-cover" />;
}
