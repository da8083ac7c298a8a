import { describe, expect, it } from "vitest";
import type { MediaInfo } from "../../../engines/media/media.ts";
import { bytesOfDataUri } from "./fetch-file.ts";
import { judgeFile, planFile, tooLarge } from "./media.rules.ts";

const png: MediaInfo = { media: "image", extension: ".png", contentType: "image/png", width: 100, height: 100 };
const mp4: MediaInfo = { media: "video", extension: ".mp4", contentType: "video/mp4", durationSeconds: 12.5 };
const text: MediaInfo = { media: "other", extension: ".txt", contentType: "text/plain" };
const mp3: MediaInfo = { media: "audio", extension: ".mp3", contentType: "audio/mpeg" };

const image = planFile({ "x-media": "image" });
const video = planFile({ "x-media": "video" });

describe("judgeFile", () => {
  it("accepts the usual formats", () => {
    for (const extension of [".jpg", ".png", ".webp"]) expect(judgeFile(image, { ...png, extension })).toBeUndefined();
    for (const extension of [".mp4", ".mov", ".webm"]) expect(judgeFile(video, { ...mp4, extension })).toBeUndefined();
  });

  it("refuses others and names the supported formats", () => {
    const usual = [".jpg", ".jpeg", ".png", ".webp"];
    for (const info of [{ ...png, extension: ".gif" }, mp4, text]) {
      expect(judgeFile(image, info)).toMatchObject({ type: "invalid_image_format", ctx: { supported_formats: usual } });
    }
    expect(judgeFile(video, png)).toMatchObject({
      type: "invalid_video_format",
      ctx: { supported_formats: [".mp4", ".mov", ".webm"] },
    });
    const own = planFile({ "x-media": "image", "x-formats": [".GIF"] });
    expect(judgeFile(own, { ...png, extension: ".gif" })).toBeUndefined();
    expect(judgeFile(own, png)).toMatchObject({ ctx: { supported_formats: [".GIF"] } });
    expect(
      judgeFile(planFile({ "x-media": "image", "x-formats": [".jpeg"] }), { ...png, extension: ".jpg" }),
    ).toBeUndefined();
  });

  it("checks the size of images", () => {
    expect(judgeFile(image, { ...png, width: 6000, height: 6000 })).toBeUndefined();
    expect(judgeFile(image, { ...png, width: 6000, height: 6001 })).toMatchObject({
      type: "image_too_large",
      ctx: { max_pixels: 36_000_000, width: 6000, height: 6001 },
    });
    expect(judgeFile(image, { ...png, width: 14, height: 14 })).toBeUndefined();
    expect(judgeFile(image, { ...png, width: 13 })).toMatchObject({
      type: "image_too_small",
      ctx: { min_width: 14, min_height: 14 },
    });
    expect(judgeFile(image, { ...png, damaged: true })).toMatchObject({ type: "image_load_error" });
  });

  it("checks the duration of videos", () => {
    const short = planFile({ "x-media": "video", "x-max-duration": 10 });
    expect(judgeFile(short, { ...mp4, durationSeconds: 10 })).toBeUndefined();
    expect(judgeFile(short, mp4)).toMatchObject({
      type: "video_duration_too_long",
      ctx: { max_duration: 10, provided_duration: 12.5 },
    });
    const { durationSeconds: _, ...unmeasured } = mp4;
    expect(judgeFile(short, unmeasured)).toMatchObject({ type: "invalid_video_format" });
    expect(judgeFile(video, { ...mp4, damaged: true })).toMatchObject({ type: "invalid_video_format" });
  });

  it("accepts audio and any file", () => {
    expect(judgeFile(planFile({ "x-media": "audio" }), mp3)).toBeUndefined();
    expect(judgeFile(planFile({ "x-media": "audio" }), text)).toMatchObject({ type: "invalid_file_format" });
    expect(judgeFile(planFile({ "x-media": "file" }), text)).toBeUndefined();
    const tables = planFile({ "x-media": "file", "x-formats": [".csv"] });
    expect(judgeFile(tables, text)).toBeUndefined();
    expect(judgeFile(tables, png)).toMatchObject({ type: "invalid_file_format", ctx: { supported_formats: [".csv"] } });
  });

  it("limits the size of files by their kind", () => {
    expect(tooLarge(image)).toMatchObject({ type: "file_too_large", ctx: { max_size: 31_457_280 } });
    expect(tooLarge(video)).toMatchObject({ ctx: { max_size: 524_288_000 } });
  });
});

describe("bytesOfDataUri", () => {
  const read = (uri: string) => {
    const bytes = bytesOfDataUri(uri);
    return bytes && Buffer.from(bytes).toString("latin1");
  };
  it.each([
    ["data:text/plain;base64,aGk=", "hi"],
    ["DATA:;BASE64,aGk", "hi"],
    ["data:image/png;charset=x; base64 ,aG k=\n", "hi"],
    ["data:,a%20b%ff+", "a b\xff+"],
    ["data:text/plain,", ""],
    ["data:;base64,_-8=", "\xff\xef"],
    ["data:;base64,aGk%3D", "hi"],
  ])("reads %j", (uri, content) => expect(read(uri)).toBe(content));
  it.each(["data:", "data:text/plain", "data:;base64,a", "data:;base64,a*b=", "data:,%zz", "data:;base64,aGk===", "x"])(
    "refuses %s",
    (uri) => expect(read(uri)).toBeUndefined(),
  );
});
