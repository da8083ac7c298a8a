import type { Workflow } from "@gantry/wire";

const sampler = { seed: 5, steps: 20, cfg: 7.5, sampler_name: "euler", scheduler: "normal", denoise: 1 };

/** Text to image, as ComfyUI's editor exports its default workflow. */
export const textToImage: Workflow = {
  "3": {
    class_type: "KSampler",
    inputs: { ...sampler, model: ["4", 0], positive: ["6", 0], negative: ["7", 0], latent_image: ["5", 0] },
    _meta: { title: "KSampler" },
  },
  "4": { class_type: "CheckpointLoaderSimple", inputs: { ckpt_name: "sd_xl_base_1.0.safetensors" } },
  "5": { class_type: "EmptyLatentImage", inputs: { width: 512, height: 768, batch_size: 1 } },
  "6": { class_type: "CLIPTextEncode", inputs: { text: "a lake", clip: ["4", 1] } },
  "7": { class_type: "CLIPTextEncode", inputs: { text: "blurry", clip: ["4", 1] } },
  "8": { class_type: "VAEDecode", inputs: { samples: ["3", 0], vae: ["4", 2] } },
  "9": { class_type: "SaveImage", inputs: { filename_prefix: "ComfyUI", images: ["8", 0] } },
};

/** Image to image. */
export const imageToImage: Workflow = {
  ...textToImage,
  "3": {
    class_type: "KSampler",
    inputs: {
      ...sampler,
      denoise: 0.6,
      model: ["4", 0],
      positive: ["6", 0],
      negative: ["7", 0],
      latent_image: ["11", 0],
    },
  },
  "10": { class_type: "LoadImage", inputs: { image: "example.png", upload: "image" } },
  "11": { class_type: "VAEEncode", inputs: { pixels: ["10", 0], vae: ["4", 2] } },
};
