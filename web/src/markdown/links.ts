// Which addresses a text of a model may lead to, and which pictures it may show.

const SAFE = new Set(["http:", "https:", "mailto:"]);

const PICTURE = /^data:image\/(png|jpeg|gif|webp|avif|bmp);base64,[a-z0-9+/=\s]*$/i;

/** The address, if following it is harmless; scripts, files and inline documents are not followed. */
export function safeLink(href: string | undefined | null): string | null {
  if (!href) return null;
  try {
    const url = new URL(href);
    return SAFE.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** The address of a picture that is shown without asking anybody for it: its bytes are in the address. */
export function safePicture(src: string | undefined | null): string | null {
  return src && (PICTURE.test(src) || src.startsWith("blob:")) ? src : null;
}

/** What a link says of where it leads. */
export function host(href: string): string {
  try {
    const url = new URL(href);
    return url.protocol === "mailto:" ? url.pathname : url.host.replace(/^www\./, "");
  } catch {
    return href;
  }
}
