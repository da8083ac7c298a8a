import { describe, expect, test } from "vitest";
import { formatS3Path, outputKey, parseS3Path, safeFilename, uploadKey } from "./address.rules.ts";
import { extensionOf, fittingContentType } from "./content-type.rules.ts";

describe("s3 addresses", () => {
  test("round-trip", () => {
    for (const key of ["a", "uploads/file_1/a b+c%20ü?#.png", "日/🙂", "x//y"]) {
      expect(parseS3Path(formatS3Path({ bucket: "gantry", key }))).toEqual({ bucket: "gantry", key });
    }
    for (const bucket of ["bb", "my_bucket", "My.Bucket-1", "b".repeat(255)]) {
      expect(parseS3Path(formatS3Path({ bucket, key: "k" }))).toEqual({ bucket, key: "k" });
    }
  });

  test("reject other text", () => {
    const wrong = [
      "",
      "s3://",
      "s3://gantry",
      "s3://gantry/",
      "s3:///key",
      "https://gantry/key",
      "gantry/key",
      " s3://gantry/k",
    ];
    for (const text of [
      ...wrong,
      "s3://gan try/k",
      "s3://gantry/a\0b",
      "s3://gantry/\ud800",
      `s3://gantry/${"k".repeat(1025)}`,
    ]) {
      expect(parseS3Path(text)).toBeUndefined();
    }
  });
});

describe("file names", () => {
  test("keep safe characters", () => {
    expect(safeFilename("photo.png")).toBe("photo.png");
    expect(safeFilename("Grüße an Ömer (1).tar.gz")).toBe("Grüße_an_Ömer_1_.tar.gz");
    expect(safeFilename("e\u0301.png")).toBe("é.png");
    expect(safeFilename("日本.png")).toBe("日本.png");
  });

  test("lose paths, leading dots and special characters", () => {
    expect(safeFilename("../../etc/passwd")).toBe("passwd");
    expect(safeFilename("C:\\temp\\a.png")).toBe("a.png");
    expect(safeFilename(".htaccess")).toBe("htaccess");
    for (const nothing of ["", "..", "/", "???", "\0", "\ud800"]) expect(safeFilename(nothing)).toMatch(/^(file)$/);
    expect(safeFilename('a"b\r\nc%2Fd?e#f&g=h i')).toBe("a_b_c_2Fd_e_f_g_h_i");
  });

  test("end keys that the id makes unique", () => {
    expect(uploadKey("file_1", undefined)).toBe("uploads/file_1/file");
    expect(uploadKey("file_1", "a.png")).toBe("uploads/file_1/a.png");
    expect(outputKey("pred_1", "file_1", "image", "image/jpeg")).toBe("outputs/pred_1/file_1/image.jpg");
    expect(outputKey("pred_1", "file_1", "x", "application/x-unheard-of")).toBe("outputs/pred_1/file_1/x.bin");
  });
});

describe("content types", () => {
  const by = (detected: string | undefined, declared: (string | undefined)[], filename?: string) =>
    fittingContentType(detected, { declared, filename });

  test("follow the bytes before any declared type", () => {
    expect(by("image/png", ["text/html"], "a.html")).toBe("image/png");
    expect(by(undefined, ["text/html; charset=utf-8"], "a.css")).toBe("text/html; charset=utf-8");
    expect(by(undefined, [undefined, "text/css"], "a.csv")).toBe("text/css");
    expect(by(undefined, ["application/octet-stream"], "a.CSV")).toBe("text/csv");
    expect(by(undefined, ["no type\r\nx: y"], "a.constructor")).toBe("application/octet-stream");
  });

  test("let a declared type refine a container format only", () => {
    expect(by("application/zip", [], "a.docx")).toMatch(/wordprocessingml/);
    expect(by("application/zip", ["text/html"], "a.html")).toBe("application/zip");
    expect(by("application/xml", ["image/svg+xml"], undefined)).toBe("image/svg+xml");
    expect(by("application/xml", ["image/png"], "a.png")).toBe("application/xml");
  });

  test("are stored without parameters", () => {
    expect(by("audio/ogg; codecs=opus", [], undefined)).toBe("audio/ogg");
    expect(by(undefined, ["Image/PNG; x=y"], undefined)).toBe("image/png");
    expect(by(undefined, ["image/png;,text/html"], undefined)).toBe("application/octet-stream");
    expect(extensionOf("image/png")).toBe("png");
  });
});
