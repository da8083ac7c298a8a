import {
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedVideoPacketSource,
  MovOutputFormat,
  Mp4OutputFormat,
  Output,
  WebMOutputFormat,
} from "mediabunny";

const formats = {
  mp4: () => new Mp4OutputFormat(),
  mov: () => new MovOutputFormat(),
  webm: () => new WebMOutputFormat(),
};

/** A real container with a packet every tenth of a second. The packets are noise, because they are never decoded. */
export async function makeVideo(options: {
  format: keyof typeof formats;
  seconds: number;
  soundOnly?: boolean;
}): Promise<Uint8Array> {
  const output = new Output({ format: formats[options.format](), target: new BufferTarget() });
  const step = 0.1;
  const packets = Array.from({ length: Math.round(options.seconds / step) }, (_, i) => i * step);
  if (options.soundOnly) {
    const source = new EncodedAudioPacketSource("opus");
    output.addAudioTrack(source);
    await output.start();
    const decoderConfig = { codec: "opus", sampleRate: 48_000, numberOfChannels: 1 };
    for (const at of packets) {
      await source.add(new EncodedPacket(new Uint8Array(20).fill(7), "key", at, step), { decoderConfig });
    }
  } else {
    const source = new EncodedVideoPacketSource("vp9");
    output.addVideoTrack(source);
    await output.start();
    const decoderConfig = { codec: "vp09.00.10.08", codedWidth: 320, codedHeight: 240 };
    for (const at of packets) {
      await source.add(new EncodedPacket(new Uint8Array(50).fill(9), at === 0 ? "key" : "delta", at, step), {
        decoderConfig,
      });
    }
  }
  await output.finalize();
  if (!output.target.buffer) throw new Error("nothing was written");
  return new Uint8Array(output.target.buffer);
}
