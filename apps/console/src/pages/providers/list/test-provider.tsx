import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { type ProviderScope, providerTestQuery } from "../provider-scope.ts";
import { TestResult } from "../test-result.tsx";

export function TestProvider({ name, scope }: { name: string; scope: ProviderScope }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="quiet" aria-label={`Test ${name}`} onClick={() => setOpen(true)}>
        Test
      </Button>
      <Dialog open={isOpen} onClose={() => setOpen(false)} title={`Test of ${name}`}>
        <Tested name={name} scope={scope} />
      </Dialog>
    </>
  );
}

/** Every opening of the dialog makes a new call. */
function Tested({ name, scope }: { name: string; scope: ProviderScope }) {
  return <TestResult test={useQuery({ ...providerTestQuery(scope, name), refetchOnMount: "always" })} />;
}
