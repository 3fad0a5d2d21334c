// Pictures in the conversation. One on a white background, such as a chart, is marked, so that the dark theme can
// invert it; the file that a click opens is unchanged.

import { withTicket } from "./net.js";
import { element } from "./words.js";

const SIDE = 64; // pixels sampled in each direction
const WHITE = 245;
const MOSTLY = 0.4; // share of pixels that must be background; in photographs hardly two pixels are equal

export function picture(file) {
  const made = element("img", { src: withTicket(file.url), alt: file.name, loading: "lazy" });
  made.addEventListener("load", () => made.classList.toggle("drawing", isDrawing(made)));
  return made;
}

function isDrawing(image) {
  const canvas = element("canvas", { width: SIDE, height: SIDE });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingEnabled = false;
  context.drawImage(image, 0, 0, SIDE, SIDE);
  const pixels = new Uint32Array(context.getImageData(0, 0, SIDE, SIDE).data.buffer);
  const paper = pixels[0];
  if ([paper & 255, (paper >> 8) & 255, (paper >> 16) & 255, paper >>> 24].some((part) => part < WHITE)) return false;
  const last = SIDE * (SIDE - 1);
  for (let at = 0; at < SIDE; at += 1)
    if ([at, last + at, SIDE * at, SIDE * at + SIDE - 1].some((edge) => pixels[edge] !== paper)) return false;
  return pixels.filter((pixel) => pixel === paper).length > MOSTLY * pixels.length;
}
