import { describe, expect, it } from "vitest";
import { fileNameIn, mediaOf } from "./media.rules.ts";

describe("output files", () => {
  it("take their name from the URL", () => {
    expect(fileNameIn("https://host/s3/b/outputs/a%20ship.jpg?X-Amz-Date=1/2")).toBe("a ship.jpg");
    expect(fileNameIn("s3://gantry/uploads/file_1/100%.png")).toBe("100%.png");
  });

  it("are classified by content type, then by extension", () => {
    expect(mediaOf("x.bin", "image/png")).toBe("image");
    expect(mediaOf("speech.WAV")).toBe("audio");
    expect(mediaOf("clip.mp4", null)).toBe("video");
    expect(mediaOf("report.txt", "text/plain")).toBe("file");
    expect(mediaOf("drawing.svg", "image/svg+xml")).toBe("file");
  });
});
