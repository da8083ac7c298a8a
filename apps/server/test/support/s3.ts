import { createSwiftNode, type SwiftNode, swift } from "./swift-node.ts";
import { provide } from "./system-packages.ts";

/**
 * Starts a real S3 server (OpenStack Swift, which checks signatures). Its bucket does not
 * exist yet. Call `stop` when done. Undefined where Swift is missing and cannot be installed: skip its tests; a
 * warning was printed. In CI this is a failure.
 */
export async function testS3(): Promise<SwiftNode | undefined> {
  if (!(await provide(swift))) return undefined;
  for (let attempt = 1; ; attempt++) {
    const node = await createSwiftNode();
    try {
      await node.start();
      return node;
    } catch (error) {
      if (attempt === 3) throw error; // its folder stays for inspection
      await node.stop(); // another process may have taken one of its ports
    }
  }
}
