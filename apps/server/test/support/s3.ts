import { createSwiftNode, type SwiftNode, swift } from "./swift-node.ts";
import { provide } from "./system-packages.ts";

/**
 * A real S3 server of one's own (OpenStack Swift, which checks signatures), started for who asks; its bucket does not
 * exist yet. `stop` it in the end. Undefined where there is none and none can be installed: skip what needs it, it has
 * been said loudly. On CI that is a failure.
 */
export async function testS3(): Promise<SwiftNode | undefined> {
  if (!(await provide(swift))) return undefined;
  for (let attempt = 1; ; attempt++) {
    const node = await createSwiftNode();
    try {
      await node.start();
      return node;
    } catch (error) {
      if (attempt === 3) throw error; // its folder stays, to be looked at
      await node.stop(); // until then, one of its ports may have been taken in the meantime
    }
  }
}
