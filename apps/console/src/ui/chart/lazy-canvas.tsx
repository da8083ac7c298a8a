import { type ComponentType, useEffect, useState } from "react";
import { Button } from "../button.tsx";
import type { CanvasProps } from "./chart-canvas.tsx";

let loaded: ComponentType<CanvasProps> | undefined;

async function loadCanvas(): Promise<ComponentType<CanvasProps>> {
  loaded = (await import("./chart-canvas.tsx")).ChartCanvas;
  return loaded;
}

/** The library is loaded when the first chart has data. If that fails, offline for example, the page stays. */
export function LazyCanvas(props: CanvasProps) {
  const [Canvas, setCanvas] = useState(() => loaded);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    if (Canvas || hasFailed) return;
    let isGone = false;
    loadCanvas().then(
      (found) => isGone || setCanvas(() => found),
      () => isGone || setFailed(true),
    );
    return () => {
      isGone = true;
    };
  }, [Canvas, hasFailed]);
  if (Canvas) return <Canvas {...props} />;
  if (!hasFailed) return null;
  return (
    <div className="absolute inset-0 flex flex-col items-center justify-center gap-3 p-4 text-center">
      <p className="text-muted">The chart could not be loaded. If this happens again, reload the page.</p>
      <Button onClick={() => setFailed(false)}>Load again</Button>
    </div>
  );
}
