import { useEffect, useState } from "react";
import { seconds } from "../../../ui/format.ts";

const tickMs = 100;

export function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return <span className="tabular-nums">{seconds(Math.max(0, now - since) / 1000)}</span>;
}
