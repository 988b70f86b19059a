/**
 * A picture that came with the data. Drawn from its bytes: no address is asked for it, so the content policy needs no
 * hole.
 */
import { LitElement, css, html } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { t } from "../link";

const WRITTEN = /^data:image\/(png|jpeg);base64,([A-Za-z0-9+/=\s]+)$/;
const MOST_PIXELS = 16_000_000; // a few kilobytes can unpack into gigabytes

@customElement("dragoman-picture")
export class DragomanPicture extends LitElement {
  @property() url = "";
  @property() label = "";
  @property() fit = "";
  @state() private error = "";

  protected override updated(changed: Map<string, unknown>): void {
    if (changed.has("url")) void this.draw(this.url);
  }

  private async draw(url: string): Promise<void> {
    try {
      const bitmap = await decodeImage(url);
      if (url !== this.url) return;
      const canvas = this.renderRoot.querySelector("canvas")!;
      [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
      canvas.getContext("bitmaprenderer")?.transferFromImageBitmap(bitmap);
      this.error = "";
    } catch {
      if (url === this.url) this.error = t("[this picture cannot be shown: PNG and JPEG can, up to 16 million points]");
    }
  }

  override render() {
    return html`<canvas
        role="img"
        aria-label=${this.label || t("picture")}
        class=${this.fit}
        ?hidden=${this.error !== ""}
      ></canvas>
      <span role="alert">${this.error}</span>`;
  }

  static override styles = css`
    :host {
      display: block;
      min-width: 0;
    }
    [hidden] {
      display: none;
    }
    canvas {
      display: block;
      max-width: 100%;
      max-height: inherit;
      width: inherit;
      height: inherit;
      object-fit: contain;
    }
    .cover {
      object-fit: cover;
    }
    .fill {
      object-fit: fill;
    }
    .none {
      object-fit: none;
    }
    .scaleDown {
      object-fit: scale-down;
    }
    span {
      color: var(--bad);
    }
  `;
}

async function decodeImage(url: string): Promise<ImageBitmap> {
  const [, kind = "", written = ""] = WRITTEN.exec(url) ?? [];
  const bytes = Uint8Array.from(atob(written), (letter) => letter.charCodeAt(0));
  const [width, height] = (kind === "png" ? sizeOfPng : sizeOfJpeg)(new DataView(bytes.buffer));
  if (!(width * height <= MOST_PIXELS)) throw new RangeError();
  return createImageBitmap(new Blob([bytes], { type: `image/${kind}` }));
}

function sizeOfPng(data: DataView): [number, number] {
  return [data.getUint32(16), data.getUint32(20)];
}

/** In its first frame header; an end before it is an error of the reading itself. */
function sizeOfJpeg(data: DataView): [number, number] {
  for (let at = 2; ; at += 2 + data.getUint16(at + 2)) {
    const marker = data.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [data.getUint16(at + 7), data.getUint16(at + 5)];
  }
}
